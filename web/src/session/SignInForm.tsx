import { Mail } from "lucide-react";
import { useState } from "react";
import type { OIDC, SignIn } from "../api/config";
import { Button } from "../ui/Button";
import { words } from "../words";
import { AddressForm, type Sent } from "./AddressForm";
import type { SignInProblem } from "./problems";
import { signInWithCode, signInWithProvider } from "./supabase";
import { Field, FormProblem } from "./fields";
import { useSending } from "./useSending";

interface Props {
  signIn: SignIn;
  /** Why an earlier sign-in failed. */
  problem?: string;
}

/** Shows the ways to sign in. After a sign-in the page reloads. */
export default function SignInForm({ signIn, problem }: Props) {
  const [sent, setSent] = useState<Sent>();
  if (sent) return <CheckEmail signIn={signIn} sent={sent} onBack={() => setSent(undefined)} />;
  const byEmail = signIn.link || signIn.password;
  return (
    <div className="space-y-4">
      {problem && <FormProblem problem={problem} />}
      {signIn.oidc && <Provider oidc={signIn.oidc} />}
      {signIn.providers.length > 0 && <Providers signIn={signIn} />}
      {(signIn.oidc || signIn.providers.length > 0) && byEmail && (
        <p className="flex items-center gap-3 text-sm text-muted before:h-px before:flex-1 before:bg-line after:h-px after:flex-1 after:bg-line">{words.signIn.or}</p>
      )}
      {byEmail && <AddressForm signIn={signIn} onSent={setSent} />}
    </div>
  );
}

function Provider({ oidc }: { oidc: OIDC }) {
  const { problem, busy, run } = useSending();
  const begin = async () => (await import("./oidc")).signIn(oidc);
  return (
    <div className="space-y-2">
      <Button variant="primary" className="h-11 w-full" disabled={busy} onClick={() => void run(begin, true)}>
        {words.signIn.with(new URL(oidc.issuer).host)}
      </Button>
      {problem && <FormProblem problem={problem.text} />}
    </div>
  );
}

function Providers({ signIn }: { signIn: SignIn }) {
  const { problem, busy, run } = useSending();
  const names: Readonly<Record<string, string>> = words.signIn.providers;
  return (
    <div className="space-y-2">
      {signIn.providers.map((provider) => (
        <Button key={provider} className="h-11 w-full" disabled={busy} onClick={() => void run(() => signInWithProvider(signIn, provider), true)}>
          {words.signIn.with(names[provider] ?? capitalized(provider))}
        </Button>
      ))}
      {problem && <FormProblem problem={problem.text} />}
    </div>
  );
}

const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

function CheckEmail({ signIn, sent, onBack }: { signIn: SignIn; sent: Sent; onBack: () => void }) {
  const [code, setCode] = useState("");
  const { problem, busy, run } = useSending();
  const submit = (): Promise<SignInProblem | undefined> => (code.trim() === "" ? Promise.resolve({ field: "code", text: words.signIn.codeMissing }) : signInWithCode(signIn, sent.email, code.trim()));
  return (
    <div className="space-y-4 text-sm">
      <div role="status" className="text-center">
        <Mail aria-hidden className="mx-auto size-8 text-accent" />
        <h2 className="mt-2 text-base font-semibold">{words.signIn.sentTitle}</h2>
        <p className="mt-1 break-words text-muted">{sent.confirms ? words.signIn.confirm(sent.email) : words.signIn.sent(sent.email)}</p>
      </div>
      {!sent.confirms && (
        <form
          noValidate
          onSubmit={(e) => {
            e.preventDefault();
            void run(submit, true);
          }}
          className="space-y-3 border-t border-line pt-4"
        >
          <Field name="code" label={words.signIn.code} help={words.signIn.codeHelp} value={code} onChange={setCode} problem={problem} inputMode="numeric" autoComplete="one-time-code" maxLength={12} />
          {problem && !problem.field && <FormProblem problem={problem.text} />}
          <Button type="submit" className="h-11 w-full" disabled={busy}>
            {busy ? words.signIn.busy : words.signIn.useCode}
          </Button>
        </form>
      )}
      <Button variant="plain" className="w-full" onClick={onBack}>
        {words.signIn.other}
      </Button>
    </div>
  );
}
