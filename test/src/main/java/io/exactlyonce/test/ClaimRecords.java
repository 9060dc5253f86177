package io.exactlyonce.test;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.KeySnapshot.Decision;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.KeyStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The record of each key. Before a record is replaced, the old one is compared with the one that was read. If another
 * thread changed the record in between, it is read again, and the change is repeated.
 */
final class ClaimRecords {

    /** The first claim of a key always has the fencing token 1, because records are never removed. */
    private static final Decision FIRST = Decision.first(1);

    private final ConcurrentMap<ClaimKey, ClaimRecord> records = new ConcurrentHashMap<>();
    private final StoreClock clock;

    ClaimRecords(StoreClock clock) {
        this.clock = clock;
    }

    ClaimOutcome claim(ClaimRequest request) {
        while (true) {
            Duration now = clock.now();
            ClaimRecord read = records.putIfAbsent(request.key(), ClaimRecord.first(FIRST, request, now));
            if (read == null) {
                return FIRST.outcome();
            }
            Decision decision = read.snapshot(now).decide(request);
            if (records.replace(request.key(), read, read.after(decision, request, now))) {
                return decision.outcome();
            }
        }
    }

    boolean isHeldBy(ClaimRequest request) {
        ClaimRecord record = records.get(request.key());
        return record != null && record.snapshot(clock.now()).isHeldBy(request.claimId());
    }

    /**
     * Changes the record of a claim. Returns false if the claim is not the latest claim of its key, or if the operation
     * returns no new record.
     */
    boolean change(ClaimId claim, Function<ClaimRecord, Optional<ClaimRecord>> operation) {
        while (true) {
            ClaimRecord read = records.get(claim.key());
            if (read == null || !read.attempt().claimId().equals(claim.value())) {
                return false;
            }
            Optional<ClaimRecord> next = operation.apply(read);
            if (next.isEmpty()) {
                return false;
            }
            if (records.replace(claim.key(), read, next.get())) {
                return true;
            }
        }
    }

    KeyState state(ClaimKey key) {
        ClaimRecord record = records.get(key);
        return record == null ? KeyState.FREE : record.snapshot(clock.now()).state();
    }

    Optional<ClaimDetails> details(ClaimKey key) {
        return Optional.ofNullable(records.get(key)).map(record -> record.details(clock.now()));
    }

    Optional<ParkedClaim> parked(ClaimKey key) {
        return parked(key, records.get(key)).findFirst();
    }

    Stream<ParkedClaim> parked() {
        return records.entrySet().stream().flatMap(entry -> parked(entry.getKey(), entry.getValue()));
    }

    private static Stream<ParkedClaim> parked(ClaimKey key, @Nullable ClaimRecord record) {
        if (record == null || record.status() != KeyStatus.PARKED || record.parkedAt() == null) {
            return Stream.empty();
        }
        return Stream.of(ParkedClaim.of(
                key.scope(),
                key.key(),
                record.attempt().claimId(),
                record.attempt().number(),
                record.failures(),
                record.inDoubt(),
                record.error() == null ? "unknown" : record.error(),
                Instant.EPOCH.plus(record.parkedAt())));
    }
}
