// Unit tests see the page in English.

import { en } from "./en";
import { speak } from "./index";

speak("en", en);
