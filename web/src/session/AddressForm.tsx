import { useState, type FormEvent } from "react";
import type { SignIn } from "../api/config";
import { Button } from "../ui/Button";
import { words } from "../words";
import { Field, FormProblem } from "./fields";
import type { SignInProblem } from "./problems";
import { createAccount, sendLink, signInWithPassword } from "./supabase";
import { useSending } from "./useSending";

/** An email that Supabase has sent. */
export interface Sent {
  email: string;
  /** Whether it confirms a new account; otherwise it signs in. */
  confirms: boolean;
}

type Mode = "password" | "create" | "link";

const looksLikeAddress = (email: string): boolean => /^[^\s@]+@[^\s@]+$/.test(email);

/** Signs in with an email address: by password or by a link. */
export function AddressForm({ signIn, onSent }: { signIn: SignIn; onSent: (sent: Sent) => void }) {
  const [mode, setMode] = useState<Mode>(signIn.password ? "password" : "link");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const { problem, setProblem, busy, run } = useSending();
  const address = email.trim();

  const change = (next: Mode) => {
    setProblem(undefined);
    setMode(next);
  };

  const missing = (): SignInProblem | undefined => {
    if (!looksLikeAddress(address)) return { field: "email", text: words.signIn.emailMissing };
    if (mode !== "link" && password === "") return { field: "password", text: words.signIn.passwordMissing };
    return undefined;
  };

  const create = async (): Promise<SignInProblem | undefined> => {
    const { problem: wrong, confirm } = await createAccount(signIn, address, password);
    if (confirm) onSent({ email: address, confirms: true });
    return wrong;
  };

  const link = async (): Promise<SignInProblem | undefined> => {
    const wrong = await sendLink(signIn, address);
    if (!wrong) onSent({ email: address, confirms: false });
    return wrong;
  };

  const send = { password: () => signInWithPassword(signIn, address, password), create, link };
  const submit = (e: FormEvent) => {
    e.preventDefault();
    const wrong = missing();
    if (wrong) return setProblem(wrong);
    void run(send[mode], mode !== "link");
  };

  return (
    <form noValidate onSubmit={submit} className="space-y-3">
      <Field name="email" label={words.signIn.email} type="email" autoComplete="email" maxLength={320} value={email} onChange={setEmail} problem={problem} />
      {mode !== "link" && (
        <Field name="password" label={words.signIn.password} type="password" autoComplete={mode === "create" ? "new-password" : "current-password"} maxLength={200} value={password} onChange={setPassword} problem={problem} />
      )}
      {problem && !problem.field && <FormProblem problem={problem.text} />}
      <Button type="submit" variant="primary" className="h-11 w-full" disabled={busy}>
        {busy ? words.signIn.busy : { password: words.signIn.submit, create: words.signIn.create, link: words.signIn.link }[mode]}
      </Button>
      <div className="flex flex-col">
        {signIn.link && mode !== "link" && (
          <Button variant="plain" onClick={() => change("link")}>
            {words.signIn.linkInstead}
          </Button>
        )}
        {signIn.password && mode !== "password" && (
          <Button variant="plain" onClick={() => change("password")}>
            {mode === "create" ? words.signIn.signInInstead : words.signIn.passwordInstead}
          </Button>
        )}
        {signIn.password && mode === "password" && (
          <Button variant="plain" onClick={() => change("create")}>
            {words.signIn.createInstead}
          </Button>
        )}
      </div>
    </form>
  );
}
