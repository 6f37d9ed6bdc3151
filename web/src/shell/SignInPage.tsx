import { useEffect } from "react";
import type { SignIn } from "../api/config";
import SignInForm from "../session/SignInForm";
import { words } from "../words";

/** The whole page if an account is required and nobody is signed in. */
export default function SignInPage({ signIn, problem }: { signIn: SignIn; problem?: string }) {
  useEffect(() => {
    document.title = words.signIn.title;
  }, []);
  return (
    <main className="flex min-h-full flex-col items-center justify-center bg-sunken px-4 py-10">
      <div className="w-full max-w-sm rounded-2xl border border-line bg-surface p-6 shadow-soft sm:p-8">
        <img src="/favicon.svg" alt="" width="40" height="40" className="mx-auto" />
        <h1 className="mt-4 mb-6 text-center text-xl font-semibold tracking-tight">{words.signIn.title}</h1>
        <SignInForm signIn={signIn} {...(problem && { problem })} />
      </div>
    </main>
  );
}
