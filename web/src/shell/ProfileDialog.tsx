import { useState } from "react";
import { TextField } from "../ui/fields";
import { FormDialog } from "../ui/FormDialog";
import { toast } from "../ui/toast";
import { words } from "../words";
import { MAX_PROFILE, saveProfile, type Profile } from "./me";

interface Props {
  profile: Profile;
  onClose: () => void;
}

/** Edits the industry and the place of the user, which web searches use. */
export default function ProfileDialog({ profile, onClose }: Props) {
  const [industry, setIndustry] = useState(profile.industry);
  const [location, setLocation] = useState(profile.location);

  const save = async () => {
    await saveProfile({ industry: industry.trim(), location: location.trim() });
    toast(words.account.profileSaved);
  };

  return (
    <FormDialog title={words.account.profileTitle} save={save} onClose={onClose}>
      <TextField label={words.account.industry} placeholder={words.account.industryExample} value={industry} maxLength={MAX_PROFILE} onChange={setIndustry} />
      <TextField label={words.account.place} placeholder={words.account.placeExample} value={location} maxLength={MAX_PROFILE} onChange={setLocation} />
      <p className="text-sm text-muted">{words.account.profileHelp}</p>
    </FormDialog>
  );
}
