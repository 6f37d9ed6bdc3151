import type { SignIn } from "../api/config";
import { Dialog } from "../ui/Dialog";
import { words } from "../words";
import SignInForm from "./SignInForm";

/** Signs in without leaving what the page shows. */
export default function SignInDialog({ signIn, onClose }: { signIn: SignIn; onClose: () => void }) {
  return (
    <Dialog title={words.signIn.title} onClose={onClose}>
      <p className="mb-4 text-sm text-muted">
        {words.signIn.help} {words.signIn.comesAlong}
      </p>
      <SignInForm signIn={signIn} />
    </Dialog>
  );
}
