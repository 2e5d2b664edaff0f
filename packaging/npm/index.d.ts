/** A whole number from 1; the whole list if omitted. */
export type Cutoff = number | null;
export type Gain = "linear" | "exp2" | "binary" | ((grade: number) => number);
export type Discount =
  | "log" | "jarvelin" | "reciprocal" | "none" | `power(${number})`
  | ((rank: number) => number);

export interface Options {
  /** The cutoff: only the first k documents count. */
  k?: Cutoff;
  /** `linear`: the grade. `exp2`: 2^grade − 1. `binary`: 1 above 0. */
  gain?: Gain;
  /** `log`: 1/log(rank + 1). `jarvelin`: 1 up to the base, then 1/log(rank). `reciprocal`: 1/rank. */
  discount?: Discount;
  /** The base of the logarithm; default 2. */
  base?: number | "e";
  /** The documents of the ideal: all `judged` ones, or those `retrieved`. */
  ideal?: "judged" | "retrieved";
  /** How deep the ideal is: to the cutoff, to the end, or as deep as the list. */
  depth?: "cutoff" | "all" | "retrieved";
  /** Documents with equal scores: by id (`doc`, highest first, is the default for runs), averaged, … */
  ties?: "doc" | "doc_ascending" | "average" | "best" | "worst" | "order";
  /** Documents without a grade: gain 0, or left out of the list. */
  unjudged?: "zero" | "condense";
  /** Negative grades: they cost in the list, count as 0, or cost in the ideal, too. */
  negative?: "keep" | "zero" | "both";
  /** nDCG of a query without gain. */
  empty?: "zero" | "one";
}

export interface ListOptions extends Options {
  /** All known grades, including the list's, for the ideal. */
  judged?: Iterable<number>;
}

/** Grades in the order that was returned; null is a document without a grade. */
export type Grades = Iterable<number | null>;
/** Numbers by document: an object, a Map, or pairs. */
export type ByDocument = Record<string, number> | Map<string, number> | [string | number, number][];
/** Scores by document, or the documents in order. */
export type RankedDocuments = ByDocument | string[];
export type ByQuery<T> = Record<string, T> | Map<string, T>;

export interface Values { cg: number; dcg: number; idcg: number; ndcg: number }

/** Cumulated gain: the sum of the gains. */
export function cg(grades: Grades, options?: ListOptions): number;
/** Discounted cumulated gain: the sum of gain × discount of the rank. */
export function dcg(grades: Grades, options?: ListOptions): number;
/** The DCG of the best order of all judged documents. */
export function idcg(grades: Grades, options?: ListOptions): number;
/** DCG divided by IDCG; 0 for a list without gain. */
export function ndcg(grades: Grades, options?: ListOptions): number;
/** The gain of a grade. */
export function gain(grade: number, options?: Options): number;
/** The discount at a rank, from 1. */
export function discount(rank: number, options?: Options): number;
/** All values of one query. */
export function measure(judged: ByDocument, run: RankedDocuments, options?: Options): Values;
/** All values of each judged query, and their means; a judged query without results counts as 0. */
export function evaluate(
  judgments: ByQuery<ByDocument>,
  run: ByQuery<RankedDocuments>,
  options?: Options,
): { queries: Record<string, Values>; mean: Values };
