package io.exactlyonce.model;

import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The check of a {@link Guard} that is SQL: its text, what a statement says without it, and a test that fails then. Space
 * between words does not matter. What follows a check belongs to its text where the same words are in other statements.
 */
enum SqlCheck {
    FIRST_CLAIM(
            Guard.FIRST_CLAIM_IS_ONE_STEP,
            "ON CONFLICT (scope, key) DO NOTHING RETURNING claim_id, fencing_token",
            "ON CONFLICT (scope, key) DO UPDATE SET claim_id = EXCLUDED.claim_id RETURNING claim_id, fencing_token",
            "io.exactlyonce.claim.postgres.StaleClaimIT#keyThatIsHeldIsNotClaimedForTheFirstTimeAgain"),
    CLAIM_THAT_WAS_READ(
            Guard.TAKEOVER_NAMES_THE_CLAIM_THAT_WAS_READ,
            "AND claim_id = ? AND status = ? AND (status = 'RELEASED'",
            "AND (claim_id = ? OR true) AND status = ? AND (status = 'RELEASED'",
            "io.exactlyonce.claim.postgres.InterferenceIT#keyThatChangesInEachRoundFailsWithAReason"),
    LEASE_AGAIN(
            Guard.TAKEOVER_ASKS_FOR_THE_LEASE_AGAIN,
            "AND (status = 'RELEASED' OR lease_until <= clock_timestamp()) FOR UPDATE",
            "FOR UPDATE",
            "io.exactlyonce.claim.postgres.InterferenceIT#keyWhoseHolderRenewsInTheLastMomentIsHeldElsewhere"),
    FENCED_ROWS(
            Guard.TAKEOVER_LEAVES_FENCED_ROWS,
            "lease_until <= clock_timestamp()) FOR UPDATE SKIP LOCKED",
            "lease_until <= clock_timestamp())",
            "io.exactlyonce.claim.postgres.FencingLockIT"
                    + "#takeoverOfAFencedClaimIsHeldElsewhereUntilTheTransactionEnds"),
    DOUBT(
            Guard.DOUBT_STAYS,
            "ambiguous = claim.ambiguous OR ending.ambiguous",
            "ambiguous = ending.ambiguous",
            "io.exactlyonce.claim.postgres.StaleClaimIT#releaseWithoutEffectsDoesNotClearAnEarlierDoubt"),
    RENEWED_CLAIM(
            Guard.RENEWAL_NAMES_ITS_CLAIM,
            "AND c.claim_id = wanted.claim_id AND c.status = 'HELD' OFFSET 0 FOR NO KEY UPDATE",
            "AND c.status = 'HELD' OFFSET 0 FOR NO KEY UPDATE",
            "io.exactlyonce.claim.postgres.StaleClaimIT#renewalOfAClaimThatWasTakenOverIsRefused"),
    COMPLETED_CLAIM(
            Guard.COMPLETION_NAMES_ITS_CLAIM,
            Texts.ENDED_CLAIM,
            Texts.ended("COMPLETED"),
            "io.exactlyonce.claim.postgres.StaleClaimIT#completionOfAClaimThatWasTakenOverIsRefused"),
    RELEASED_CLAIM(
            Guard.RELEASE_NAMES_ITS_CLAIM,
            Texts.ENDED_CLAIM,
            Texts.ended("RELEASED"),
            "io.exactlyonce.claim.postgres.StaleClaimIT#releaseOfAClaimThatWasTakenOverIsRefused"),
    PARKED_CLAIM(
            Guard.PARKING_NAMES_ITS_CLAIM,
            Texts.ENDED_CLAIM,
            Texts.ended("PARKED"),
            "io.exactlyonce.claim.postgres.StaleClaimIT#parkingOfAClaimThatWasTakenOverIsRefused"),
    FENCED_CLAIM(
            Guard.FENCE_NAMES_ITS_CLAIM,
            "AND claim_id = ? AND status = 'HELD' FOR KEY SHARE",
            "AND (claim_id = ? OR true) AND status = 'HELD' FOR KEY SHARE",
            "io.exactlyonce.claim.postgres.FencingLockIT#zombieWhoseClaimWasTakenOverCannotCommit"),
    ADVISORY_LOCK(
            Guard.ONE_TRANSACTION_PER_KEY,
            "pg_try_advisory_xact_lock(wanted.number) AS taken",
            "wanted.number IS NOT NULL AS taken",
            "io.exactlyonce.claim.postgres.transaction.PostgresClaimTransactionIT"
                    + "#otherKeyOfTheSameNumberIsHeldElsewhereAndNothingWorse"),
    PRIMARY_KEY(
            Guard.ONE_TRANSACTION_PER_KEY,
            "ON CONFLICT (scope, key) DO NOTHING RETURNING fencing_token, claim_id",
            "ON CONFLICT (scope, key) DO UPDATE SET claim_id = EXCLUDED.claim_id, status = 'HELD'"
                    + " RETURNING fencing_token, claim_id",
            "io.exactlyonce.claim.postgres.transaction.PostgresClaimTransactionIT#completedKeyIsNotWorkedOnAgain"),
    SAME_TRANSACTION(
            Guard.EFFECT_COMMITS_WITH_THE_COMPLETION,
            "AND current_setting('exactly_once.transaction', true) = ?",
            "AND (current_setting('exactly_once.transaction', true) = ? OR true)",
            "io.exactlyonce.claim.postgres.transaction.PostgresClaimTransactionIT"
                    + "#workThatCommitsByItselfLeavesADoubtRatherThanACompletion");

    private final Guard guard;
    private final Pattern text;
    private final String without;
    private final String test;

    SqlCheck(Guard guard, String text, String without, String test) {
        this.guard = guard;
        this.text = Pattern.compile(
                Arrays.stream(text.split(" ")).map(Pattern::quote).collect(Collectors.joining("\\s+")));
        this.without = without;
        this.test = test;
    }

    Guard guard() {
        return guard;
    }

    /** Returns the test that fails without it, as {@code class#method}. */
    String test() {
        return test;
    }

    /**
     * Returns a statement without this check; as it is, if it has none.
     *
     * @throws IllegalStateException if the statement has it more than once: which one it is about is not said then
     */
    String remove(String sql) {
        Matcher found = text.matcher(sql);
        if (!found.find()) {
            return sql;
        }
        String removed = sql.substring(0, found.start()) + without + sql.substring(found.end());
        if (found.find()) {
            throw new IllegalStateException("%s is in one statement twice: give it more of its text".formatted(this));
        }
        return removed;
    }

    private static final class Texts {

        private static final String FOUND = " AND (c.status = 'HELD' OR (c.status = 'COMPLETED' AND"
                + " wanted.status = 'COMPLETED')) OFFSET 0 FOR NO KEY UPDATE";

        private static final String ENDED_CLAIM = "AND c.claim_id = wanted.claim_id" + FOUND;

        /** Without the claim's id for one kind of ends. */
        private static String ended(String status) {
            return "AND (c.claim_id = wanted.claim_id OR wanted.status = '%s')".formatted(status) + FOUND;
        }
    }
}
