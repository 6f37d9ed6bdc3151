import { useState, type FormEvent } from "react";
import { errorText } from "../api/query";
import { Button } from "../ui/Button";
import { Dialog } from "../ui/Dialog";
import { toast } from "../ui/toast";
import { words } from "../words";
import { MAX_PROFILE, saveProfile, type Profile } from "./me";

interface Props {
  profile: Profile;
  onClose: () => void;
}

/** Industry and place, which web searches use. */
export default function ProfileDialog({ profile, onClose }: Props) {
  const [industry, setIndustry] = useState(profile.industry);
  const [location, setLocation] = useState(profile.location);
  const [saving, setSaving] = useState(false);
  const [problem, setProblem] = useState("");

  const save = async (e: FormEvent) => {
    e.preventDefault();
    setSaving(true);
    try {
      await saveProfile({ industry: industry.trim(), location: location.trim() });
      toast(words.account.profileSaved);
      onClose();
    } catch (err) {
      setProblem(errorText(err));
      setSaving(false);
    }
  };

  return (
    <Dialog title={words.account.profileTitle} onClose={onClose}>
      <form onSubmit={(e) => void save(e)} className="space-y-4">
        <Field label={words.account.industry} example={words.account.industryExample} value={industry} onChange={setIndustry} />
        <Field label={words.account.place} example={words.account.placeExample} value={location} onChange={setLocation} />
        <p className="text-sm text-muted">{words.account.profileHelp}</p>
        {problem && (
          <p role="alert" className="text-sm text-bad">
            {problem}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button variant="plain" onClick={onClose}>
            {words.common.cancel}
          </Button>
          <Button type="submit" variant="primary" disabled={saving}>
            {words.common.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface FieldProps {
  label: string;
  example: string;
  value: string;
  onChange: (value: string) => void;
}

const Field = ({ label, example, value, onChange }: FieldProps) => (
  <label className="block text-sm">
    <span className="mb-1 block font-medium">{label}</span>
    <input dir="auto" value={value} placeholder={example} maxLength={MAX_PROFILE} onChange={(e) => onChange(e.target.value)} className="h-9 w-full rounded-lg border border-edge bg-surface px-3 pointer-coarse:h-11" />
  </label>
);
