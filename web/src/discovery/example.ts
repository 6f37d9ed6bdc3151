import { boardWords } from "../words/discovery";

const ids = (letter: string, of: readonly number[]) => of.map((n) => `${letter}-${n}`);

/** Returns a small finished board, as the JSON of an exported file. */
export function exampleBoard(): string {
  const { title, goal, inputs, facts, insights, recommendations, output } = boardWords.example;
  return JSON.stringify({
    title,
    goal,
    inputs: inputs.map(([name, text], i) => ({ input_id: `I-${i + 1}`, title: name, text })),
    facts: facts.map((text, i) => ({ fact_id: `F-${i + 1}`, text, related_inputs: ids("I", [[1], [1], [2]][i]!) })),
    insights: insights.map((text, i) => ({ insight_id: `N-${i + 1}`, text, related_facts: ids("F", [[1, 2], [3]][i]!) })),
    recommendations: recommendations.map((text, i) => ({ recommendation_id: `R-${i + 1}`, text, related_insights: ids("N", [[1, 2], [2]][i]!) })),
    outputs: [{ output_id: "O-1", type: "action_plan", text: output, related_recommendations: ids("R", [1, 2]) }],
  });
}
