import { Suspense, useEffect } from "react";
import { useConfig } from "../api/useConfig";
import { useSession } from "../session/account";
import { lazy } from "../ui/lazy";
import { toast } from "../ui/toast";
import { words } from "../words";
import { App } from "./App";
import { Boundary } from "./Boundary";

const SignInPage = lazy(() => import("./SignInPage"));

/** Shows the page, or the sign-in page if an account is required and nobody is signed in. */
export function Gate() {
  const { signIn, accountRequired } = useConfig();
  const { account, problem, claimed } = useSession();
  const outside = signIn !== undefined && accountRequired && !account;
  useEffect(() => {
    if (outside) return;
    if (problem) toast.error(problem);
    if (claimed) toast(words.signIn.claimed(claimed));
  }, [outside, problem, claimed]);
  if (!outside) return <App />;
  return (
    <Boundary>
      <Suspense>
        <SignInPage signIn={signIn} {...(problem && { problem })} />
      </Suspense>
    </Boundary>
  );
}
