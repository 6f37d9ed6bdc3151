import { LogIn } from "lucide-react";
import { Suspense, useState } from "react";
import { useConfig } from "../api/useConfig";
import { Button } from "../ui/Button";
import { lazy } from "../ui/lazy";
import { words } from "../words";
import { useSession } from "./account";

const SignInDialog = lazy(() => import("./SignInDialog"));

/** A button that opens the sign-in; null if there is no sign-in, or if the user is signed in. */
export function SignInButton() {
  const { signIn } = useConfig();
  const { account } = useSession();
  const [open, setOpen] = useState(false);
  if (!signIn || account) return null;
  return (
    <div className="px-3 pb-2">
      <Button icon={LogIn} className="w-full" onClick={() => setOpen(true)}>
        {words.signIn.open}
      </Button>
      <Suspense fallback={null}>{open && <SignInDialog signIn={signIn} onClose={() => setOpen(false)} />}</Suspense>
    </div>
  );
}
