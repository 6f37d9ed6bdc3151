import type { SignIn } from "../api/config";
import { Dialog } from "../ui/Dialog";
import { words } from "../words";
import SignInForm from "./SignInForm";

/** A dialog to sign in, over the current page. */
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
