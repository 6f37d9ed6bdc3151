import { useState } from "react";
import { TextArea, TextField } from "../ui/fields";
import { FormDialog } from "../ui/FormDialog";
import { toast } from "../ui/toast";
import { words } from "../words";
import { MAX_INSTRUCTIONS, MAX_PROFILE, saveProfile, type Profile } from "./me";

interface Props {
  profile: Profile;
  onClose: () => void;
}

/** Edits how the user wants answers, and the industry and place that web searches use. */
export default function ProfileDialog({ profile, onClose }: Props) {
  const [industry, setIndustry] = useState(profile.industry ?? "");
  const [location, setLocation] = useState(profile.location ?? "");

  const [instructions, setInstructions] = useState(profile.instructions ?? "");

  const save = async () => {
    await saveProfile(profile, { industry: industry.trim(), location: location.trim(), instructions: instructions.trim() });
    toast(words.account.profileSaved);
  };

  return (
    <FormDialog title={words.account.profileTitle} save={save} onClose={onClose}>
      <TextArea label={words.account.instructions} placeholder={words.account.instructionsExample} help={words.account.instructionsHelp} value={instructions} maxLength={MAX_INSTRUCTIONS} onChange={setInstructions} />
      <TextField label={words.account.industry} placeholder={words.account.industryExample} value={industry} maxLength={MAX_PROFILE} onChange={setIndustry} />
      <TextField label={words.account.place} placeholder={words.account.placeExample} value={location} maxLength={MAX_PROFILE} onChange={setLocation} />
      <p className="text-sm text-muted">{words.account.profileHelp}</p>
    </FormDialog>
  );
}
