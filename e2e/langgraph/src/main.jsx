// The page /chat/<thread id> shows that thread.
import { createRoot } from "react-dom/client";
import { Chat } from "./chat.jsx";

const threadId = decodeURIComponent(location.pathname.replace(/^\/chat\//, ""));

createRoot(document.getElementById("page")).render(<Chat threadId={threadId} />);
