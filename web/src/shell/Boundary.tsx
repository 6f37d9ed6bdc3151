import { Component, type ErrorInfo, type ReactNode } from "react";
import { Button } from "../ui/Button";
import { words } from "../words";

interface Props {
  children: ReactNode;
  /** What is shown instead of the part; by default that it failed. */
  fallback?: ReactNode;
}

/** An error boundary: an error in one part of the page, or a chunk that failed to load, leaves the rest working. */
export class Boundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError = () => ({ failed: true });

  override componentDidCatch(error: unknown, info: ErrorInfo) {
    console.error("This part of the page failed.", error, info.componentStack);
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    if (this.props.fallback !== undefined) return this.props.fallback;
    return (
      <div role="alert" className="m-auto max-w-sm space-y-3 p-6 text-center">
        <p>{words.shell.partFailed}</p>
        <Button onClick={() => location.reload()}>{words.shell.reload}</Button>
      </div>
    );
  }
}
