package io.exactlyonce.model;

import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A check in SQL, of a {@link Guard} or outside of the model: its text, the replacement text, and a test that fails
 * with the replacement. White space does not matter. If other statements contain the same words, the text of a check
 * includes the words after it.
 */
enum SqlCheck {
    FIRST_CLAIM(
            Guard.FIRST_CLAIM_IS_ONE_STEP,
            "ON CONFLICT (scope, key) DO NOTHING RETURNING claim_id, fencing_token",
            "ON CONFLICT (scope, key) DO UPDATE SET claim_id = EXCLUDED.claim_id RETURNING claim_id, fencing_token",
            "io.exactlyonce.claim.postgres.StaleClaimIT#keyThatIsHeldIsNotClaimedForTheFirstTimeAgain"),
    CLAIM_THAT_WAS_READ(
            Guard.TAKEOVER_NAMES_THE_CLAIM_THAT_WAS_READ,
            "AND c.claim_id = w.held_id AND c.status = w.status AND (c.status = 'RELEASED'",
            "AND (c.claim_id = w.held_id OR true) AND c.status = w.status AND (c.status = 'RELEASED'",
            "io.exactlyonce.claim.postgres.InterferenceIT#keyThatChangesInEachRoundIsHeldElsewhere"),
    LEASE_AGAIN(
            Guard.TAKEOVER_ASKS_FOR_THE_LEASE_AGAIN,
            "AND (c.status = 'RELEASED' OR c.lease_until <= clock_timestamp()) LIMIT 1 FOR UPDATE",
            "LIMIT 1 FOR UPDATE",
            "io.exactlyonce.claim.postgres.InterferenceIT#keyWhoseOwnerRenewsInTheLastMomentIsHeldElsewhere"),
    FENCED_ROWS(
            Guard.TAKEOVER_LEAVES_FENCED_ROWS,
            "c.lease_until <= clock_timestamp()) LIMIT 1 FOR UPDATE SKIP LOCKED",
            "c.lease_until <= clock_timestamp()) LIMIT 1",
            "io.exactlyonce.claim.postgres.FencingLockIT"
                    + "#takeoverOfAFencedClaimIsHeldElsewhereUntilTheTransactionEnds"),
    DOUBT(
            Guard.DOUBT_STAYS,
            "in_doubt = claim.in_doubt OR w.in_doubt",
            "in_doubt = w.in_doubt",
            "io.exactlyonce.claim.postgres.StaleClaimIT#releaseWithoutEffectsDoesNotClearAnEarlierDoubt"),
    RENEWED_CLAIM(
            Guard.RENEWAL_NAMES_ITS_CLAIM,
            Texts.HELD_CLAIM,
            Texts.HELD,
            "io.exactlyonce.claim.postgres.StaleClaimIT#renewalOfAClaimThatWasTakenOverIsRefused"),
    COMPLETED_CLAIM(
            Guard.COMPLETION_NAMES_ITS_CLAIM,
            Texts.HELD_CLAIM,
            Texts.ended("COMPLETED"),
            "io.exactlyonce.claim.postgres.StaleClaimIT#completionOfAClaimThatWasTakenOverIsRefused"),
    RELEASED_CLAIM(
            Guard.RELEASE_NAMES_ITS_CLAIM,
            Texts.HELD_CLAIM,
            Texts.ended("RELEASED"),
            "io.exactlyonce.claim.postgres.StaleClaimIT#releaseOfAClaimThatWasTakenOverIsRefused"),
    PARKED_CLAIM(
            Guard.PARKING_NAMES_ITS_CLAIM,
            Texts.HELD_CLAIM,
            Texts.ended("PARKED"),
            "io.exactlyonce.claim.postgres.StaleClaimIT#parkingOfAClaimThatWasTakenOverIsRefused"),
    FENCED_CLAIM(
            Guard.FENCE_NAMES_ITS_CLAIM,
            "AND claim_id = ? AND status = 'HELD' FOR KEY SHARE",
            "AND (claim_id = ? OR true) AND status = 'HELD' FOR KEY SHARE",
            "io.exactlyonce.claim.postgres.FencingLockIT#zombieWhoseClaimWasTakenOverCannotCommit"),
    ADVISORY_LOCK(
            Guard.ONE_TRANSACTION_PER_KEY,
            "pg_try_advisory_xact_lock(wanted.number # coalesce( to_regclass('\"exactly_once_claim\"')::oid::bigint, 0)) AS taken",
            "wanted.number IS NOT NULL AS taken",
            "io.exactlyonce.claim.postgres.transaction.PostgresClaimTransactionIT"
                    + "#otherKeyOfTheSameNumberIsHeldElsewhereAndNothingWorse"),
    PRIMARY_KEY(
            Guard.ROW_DECIDES_AT_THE_COMMIT,
            "?, ?, 'COMPLETED', now(), now(), now(), clock_timestamp())",
            "?, ?, 'COMPLETED', now(), now(), now(), clock_timestamp()) ON CONFLICT (scope, key) DO UPDATE SET"
                    + " claim_id = EXCLUDED.claim_id, status = EXCLUDED.status",
            "io.exactlyonce.claim.postgres.transaction.MixedEffectsIT"
                    + "#claimByTheStoreNeitherWaitsForATransactionNorIsOverwritten"),
    ROW_AS_READ(
            Guard.ROW_DECIDES_AT_THE_COMMIT,
            "AND c.claim_id = w.held_id AND c.status = w.status"
                    + " AND (c.status = 'RELEASED' OR c.lease_until <= clock_timestamp()) LIMIT 1",
            "LIMIT 1",
            "io.exactlyonce.claim.postgres.transaction.MixedEffectsIT"
                    + "#freeRowThatChangesWhileTheHandlerWorksRollsItBack"),
    SAME_TRANSACTION(
            Guard.EFFECT_COMMITS_WITH_THE_COMPLETION,
            "/ (pg_current_xact_id() = ?::xid8)::int",
            "/ (pg_current_xact_id() = ?::xid8 OR true)::int",
            "io.exactlyonce.claim.postgres.transaction.PostgresClaimTransactionIT"
                    + "#workThatRollsBackByItselfDoesNotCompleteItsKey"),

    /** A key is in doubt if a handler committed work by itself. */
    COMMITTED_BY_ITSELF(
            "pg_xact_status(?::xid8) = 'committed'",
            "pg_xact_status(?::xid8) = 'unknown'",
            "io.exactlyonce.claim.postgres.transaction.PostgresClaimTransactionIT"
                    + "#workThatCommitsByItselfLeavesItsKeyToAPersonIfTheRequestDoes"),
    /** Commits of claims wait for the disk, whatever the database's default is. */
    DURABLE_COMMIT(
            "'off', true), set_config('synchronous_commit',",
            "'off', true), set_config('exactly_once.none',",
            "io.exactlyonce.claim.postgres.SynchronousCommitIT#commitsOfClaimsWaitForWhatIsConfigured"),
    DURABLE_CLAIM(
            "AS now, set_config('synchronous_commit',",
            "AS now, set_config('exactly_once.none',",
            "io.exactlyonce.claim.postgres.SynchronousCommitIT#commitsOfClaimsWaitForWhatIsConfigured"),
    DURABLE_TRANSACTION(
            "THEN set_config('synchronous_commit',",
            "THEN set_config('exactly_once.none',",
            "io.exactlyonce.claim.postgres.transaction.PostgresClaimTransactionIT"
                    + "#commitWaitsForAsMuchAsClaimsDoAndAsTheApplicationConfigures"),
    /** A takeover requires the status that was read, because a late owner may have completed the key since. */
    STATUS_THAT_WAS_READ(
            "AND c.claim_id = w.held_id AND c.status = w.status AND (c.status = 'RELEASED'",
            "AND c.claim_id = w.held_id AND (c.status = 'RELEASED'",
            "io.exactlyonce.claim.postgres.InterferenceIT#keyWhoseOwnerCompletesInTheLastMomentIsCompleted"),
    /** Tokens grow even if the database's clock was set back. */
    HIGHER_TOKEN(
            "greatest(c.fencing_token + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) AS next_token",
            "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS next_token",
            "io.exactlyonce.claim.postgres.StaleClaimIT#tokenGrowsAlthoughTheClockWasSetBack"),
    /** Tokens grow even if the key's row was deleted meanwhile. */
    TOKEN_OF_THE_CLOCK(
            "(extract(epoch FROM clock.now) * 1000000)::bigint, false",
            "1::bigint, false",
            "io.exactlyonce.claim.postgres.RetentionIT#deletedKeyIsClaimedAsNewWithAHigherToken"),
    /** A completed, released or parked claim is not renewed. Otherwise its worker would continue. */
    RENEWED_STATUS(
            Texts.HELD,
            "LIMIT 1 FOR NO KEY UPDATE",
            "io.exactlyonce.claim.postgres.StaleClaimIT#claimThatHasEndedIsNotRenewed"),
    /** A completed claim is neither released nor parked. */
    ENDED_STATUS(
            Texts.HELD,
            "LIMIT 1 FOR NO KEY UPDATE",
            "io.exactlyonce.claim.postgres.StaleClaimIT#completedClaimIsNeitherReleasedNorParked"),
    /** A second completion does not replace the first result. */
    FIRST_RESULT(
            Texts.HELD,
            "LIMIT 1 FOR NO KEY UPDATE",
            "io.exactlyonce.claim.postgres.StaleClaimIT#completionThatIsRepeatedIsRecordedWithItsFirstResult"),
    /** Only a claim that holds its key can fence. A resolved claim cannot. */
    FENCED_STATUS(
            "AND claim_id = ? AND status = 'HELD' FOR KEY SHARE",
            "AND claim_id = ? FOR KEY SHARE",
            "io.exactlyonce.claim.postgres.FencingLockIT#completedClaimIsNotHeld"),
    FENCE_LOCKS(
            "AND claim_id = ? AND status = 'HELD' FOR KEY SHARE",
            "AND claim_id = ? AND status = 'HELD'",
            "io.exactlyonce.claim.postgres.FencingLockIT"
                    + "#takeoverOfAFencedClaimIsHeldElsewhereUntilTheTransactionEnds"),
    /** An operator's decision applies only to the claim that was parked at the lookup. */
    DECIDED_CLAIM(
            Guard.DECISION_NAMES_ITS_CLAIM,
            "AND c.claim_id = w.claim_id AND c.status = 'PARKED'",
            "AND (c.claim_id = w.claim_id OR true) AND c.status = 'PARKED'",
            "io.exactlyonce.claim.postgres.PostgresParkedClaimsIT#decisionForAnEarlierParkingChangesNothing"),
    DECIDED_STATUS(
            Guard.DECISION_ASKS_FOR_A_PARKED_KEY,
            "AND c.claim_id = w.claim_id AND c.status = 'PARKED'",
            "AND c.claim_id = w.claim_id",
            "io.exactlyonce.claim.postgres.PostgresParkedClaimsIT#listContinuesAfterAClaim"),
    COUNTED_ONCE(
            Guard.FAILURE_IS_COUNTED_ONCE,
            Texts.HELD,
            "LIMIT 1 FOR NO KEY UPDATE",
            "io.exactlyonce.claim.postgres.StaleClaimIT#failureThatIsRecordedTwiceIsCountedOnce"),
    /** Only attempts that threw are counted as failures. */
    COUNTED_FAILURE(
            "failures = claim.failures + w.threw::int",
            "failures = claim.failures + 1",
            "io.exactlyonce.claim.postgres.StaleClaimIT#onlyAttemptsThatThrewAreCountedUntilAnOperatorReleasesTheKey"),
    COUNT_OF_FAILURES(
            "failures = claim.failures + w.threw::int",
            "failures = w.threw::int",
            "io.exactlyonce.claim.postgres.StaleClaimIT#onlyAttemptsThatThrewAreCountedUntilAnOperatorReleasesTheKey"),
    /** An operator's release gives a key all of its attempts again. */
    FAILURES_COUNTED_ANEW(
            Guard.RELEASED_KEY_COUNTS_ANEW,
            "cleared = true, failures = 0,",
            "cleared = true,",
            "io.exactlyonce.claim.postgres.StaleClaimIT#onlyAttemptsThatThrewAreCountedUntilAnOperatorReleasesTheKey"),
    /** A waiting duplicate is deleted or returned only if its key is completed or parked. */
    SEEN_STATUS(
            "WHEN claim.status = 'COMPLETED' OR claim.status = 'PARKED' THEN claim.status",
            "",
            "io.exactlyonce.claim.postgres.KeyStateQueryIT#parkedKeyIsParked"),
    SEEN_LEASE(
            "WHEN claim.status = 'HELD' AND claim.lease_until > clock_timestamp() THEN 'HELD'",
            "",
            "io.exactlyonce.claim.postgres.KeyStateQueryIT#lockOfKeysWithoutARowOnlyIsTried"),
    SEEN_END_OF_LEASE(
            "WHEN claim.status = 'HELD' AND claim.lease_until > clock_timestamp() THEN 'HELD'",
            "WHEN claim.status = 'HELD' THEN 'HELD'",
            "io.exactlyonce.claim.postgres.KeyStateQueryIT#keyWhoseLeaseIsOverIsFree"),
    SEEN_TRANSACTION(
            "WHEN NOT pg_try_advisory_xact_lock_shared( w.lock # '\"exactly_once_claim\"'::regclass::oid::bigint) THEN 'HELD'",
            "",
            "io.exactlyonce.claim.postgres.KeyStateQueryIT#lockedKeyIsHeldAlsoWhenAnEarlierClaimsRowIsFree"),
    SEEN_LOCK(
            "AND c.key = w.key FOR UPDATE SKIP LOCKED) THEN 'FREE'",
            "AND c.key = w.key) THEN 'FREE'",
            "io.exactlyonce.claim.postgres.KeyStateQueryIT#freeKeyWhoseRowIsLockedIsHeld"),
    /** Retention counts from the last event of a row. A parked row is kept forever. */
    RETAINED_FROM_ITS_LAST_EVENT(
            "AND (greatest(claimed_at, CASE WHEN status = 'COMPLETED' THEN completed_at WHEN status = 'HELD' THEN lease_until END)"
                    + " - claimed_at) <= (now() - expires_at)",
            "",
            "io.exactlyonce.claim.postgres.RetentionIT#completionThatCameLateCountsAndNotItsClaim"),
    RETAINED_WHILE_PARKED(
            "AND parked_at IS NULL AND status <> 'PARKED' AND (greatest",
            "AND (greatest",
            "io.exactlyonce.claim.postgres.RetentionIT#parkedClaimIsNeverDeleted"),
    /** A row's place ({@code ctid}) is unique only within its partition. */
    PLACE_OF_A_HELD_KEY(
            Texts.KEY_AT_PLACE + " RETURNING claim.claim_id",
            "RETURNING claim.claim_id",
            Texts.PARTITIONS + "(COMPLETION)"),
    PLACE_OF_A_FREE_KEY(
            Texts.KEY_AT_PLACE + " RETURNING w.claim_id", "RETURNING w.claim_id", Texts.PARTITIONS + "(TAKEOVER)"),
    PLACE_OF_AN_EXPIRED_KEY(
            Texts.KEY_AT_PLACE + " RETURNING claim.expires_at",
            "RETURNING claim.expires_at",
            Texts.PARTITIONS + "(RETENTION)"),
    PLACE_OF_A_KEY_IN_A_TRANSACTION(
            Texts.KEY_AT_PLACE + " RETURNING w.claim_id", "RETURNING w.claim_id", Texts.PARTITIONS + "(TRANSACTION)");

    /** Statements qualify all names with their schemas. These texts leave the schemas out. */
    private static final Pattern OPERATOR = Pattern.compile("OPERATOR\\(pg_catalog\\.(\\S+?)\\)");

    private static final Pattern NAMES = Pattern.compile("pg_catalog\\.|\"public\"\\.");

    private final @Nullable Guard guard;
    private final Pattern text;
    private final String without;
    private final String test;

    SqlCheck(String text, String without, String test) {
        this(null, text, without, test);
    }

    SqlCheck(@Nullable Guard guard, String text, String without, String test) {
        this.guard = guard;
        this.text = Pattern.compile(
                Arrays.stream(text.split(" ")).map(Pattern::quote).collect(Collectors.joining("\\s+")));
        this.without = without;
        this.test = test;
    }

    /** Returns the guard that this check belongs to; empty if the model leaves it out. */
    Optional<Guard> guard() {
        return Optional.ofNullable(guard);
    }

    /**
     * Returns the test that fails without this check, as {@code class#method}, or {@code class#method(CONSTANT)} with a
     * constant of the test's enum.
     */
    String test() {
        return test;
    }

    /**
     * Returns a statement without this check, or unchanged if the statement does not contain it.
     *
     * @throws IllegalStateException if the statement contains the check more than once, because the replacement would
     *     be ambiguous
     */
    String remove(String qualified) {
        String sql = NAMES.matcher(OPERATOR.matcher(qualified).replaceAll("$1")).replaceAll("");
        Matcher found = text.matcher(sql);
        if (!found.find()) {
            return qualified;
        }
        String removed = sql.substring(0, found.start()) + without + sql.substring(found.end());
        if (found.find()) {
            throw new IllegalStateException("%s is in one statement twice: give it more of its text".formatted(this));
        }
        return removed;
    }

    private static final class Texts {

        private static final String KEY_AT_PLACE =
                "AND ((claim.scope = w.scope AND claim.key = w.key) OR (claim.scope = w.row_scope AND claim.key = w.row_key))";

        private static final String PARTITIONS =
                "io.exactlyonce.claim.postgres.PartitionsIT#rowAtTheSamePlaceOfAnotherPartitionIsNotWritten";

        private static final String HELD = "AND c.status = 'HELD' LIMIT 1 FOR NO KEY UPDATE";

        private static final String HELD_CLAIM = "AND c.claim_id = w.claim_id " + HELD;

        /** Removes the claim's id from the resolutions of one kind. */
        private static String ended(String status) {
            return "AND (c.claim_id = w.claim_id OR w.status = '%s') ".formatted(status) + HELD;
        }
    }
}
