package io.exactlyonce.dynamodb;

import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import io.exactlyonce.dynamodb.item.ClaimItem;
import io.exactlyonce.dynamodb.item.ClaimItem.Status;
import io.exactlyonce.dynamodb.item.ClaimWrites;
import io.exactlyonce.dynamodb.item.ItemWrite;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one call for one key, and what was last seen of its item: decides what to write, and what each is answered
 * once that is written. Used by one thread at a time.
 */
final class KeyRequests {

    private final ClaimWrites writes;
    private final LeaseClock clock;
    private final Map<Integer, ClaimRequest> requests = new LinkedHashMap<>();
    private final Map<Integer, ClaimOutcome> outcomes = new LinkedHashMap<>();
    private @Nullable ClaimItem item;

    /**
     * A write, and what it means once it has happened.
     *
     * @param winner the request that gets the key, or -1 if the key is parked
     */
    private record Step(ItemWrite write, int winner, ClaimOutcome outcome) {}

    private @Nullable Step step;

    KeyRequests(ClaimWrites writes, LeaseClock clock) {
        this.writes = writes;
        this.clock = clock;
    }

    /** Adds a request, and its place in the call. */
    void add(int place, ClaimRequest request) {
        requests.put(place, request);
    }

    String pk() {
        return firstRequest().key().hash();
    }

    Map<Integer, ClaimOutcome> outcomes() {
        return outcomes;
    }

    /** Notes the item, or that there is none. */
    void saw(@Nullable ClaimItem found) {
        item = found;
    }

    /** Returns what to write next. If it is empty, all are answered. */
    Optional<ItemWrite> next() {
        step = decide(item);
        return Optional.ofNullable(step).map(Step::write);
    }

    /** Answers, since the write that came next has happened. */
    void written() {
        Step done = step;
        if (done == null) {
            throw new IllegalStateException(
                    "Nothing was to be written for " + firstRequest().key());
        }
        requests.forEach((place, request) -> outcomes.put(
                place, place == done.winner() || done.winner() < 0 ? done.outcome() : behind(done.winner())));
    }

    /** Answers, since a transaction of the application's keeps the item locked: it may complete it, or be another's. */
    void locked() {
        requests.keySet().forEach(place -> outcomes.put(place, new HeldElsewhere(Duration.ZERO)));
    }

    private @Nullable Step decide(@Nullable ClaimItem seen) {
        if (seen == null) {
            Acquired answer = writes.firstAnswer();
            return new Step(writes.first(firstRequest(), answer), firstPlace(), answer);
        }
        Optional<Integer> own = requests.entrySet().stream()
                .filter(each -> seen.isHeldBy(each.getValue().id()))
                .map(Map.Entry::getKey)
                .findFirst();
        if (own.isPresent()) {
            return again(own.get(), seen);
        }
        long remaining = seen.status() == Status.HELD ? remaining(seen) : 0;
        return switch (seen.status()) {
            case COMPLETED -> answered(seen);
            case PARKED -> answered(new Parked());
            case RELEASED -> free(seen);
            case HELD ->
                remaining <= 0 ? free(seen) : answered(new HeldElsewhere(Duration.of(remaining, ChronoUnit.MICROS)));
        };
    }

    /** The caller counts its lease from this call on, so the item has to as well. */
    private Step again(int place, ClaimItem seen) {
        ClaimRequest request = request(place);
        return new Step(writes.renew(new LeaseRenewal(request.id(), request.lease())), place, seen.current());
    }

    /** A request whose own claim was given up comes late, and gets nothing: decisions of a person name that claim. */
    private @Nullable Step free(ClaimItem seen) {
        Optional<Integer> first = requests.keySet().stream()
                .filter(place -> !seen.isReleasedBy(request(place).id()))
                .findFirst();
        if (first.isEmpty()) {
            return answered(new HeldElsewhere(Duration.ZERO));
        }
        ClaimRequest request = request(first.get());
        if (seen.isInDoubt() && !seen.isCleared() && request.inDoubt() == InDoubt.PARK) {
            return new Step(writes.parkInDoubt(seen), -1, new Parked());
        }
        Acquired answer = writes.nextAnswer(seen);
        return new Step(writes.takeOver(request, seen, answer), first.get(), answer);
    }

    private @Nullable Step answered(ClaimOutcome outcome) {
        requests.keySet().forEach(place -> outcomes.put(place, outcome));
        return null;
    }

    private @Nullable Step answered(ClaimItem completed) {
        requests.forEach((place, request) -> outcomes.put(place, completed.completed(request)));
        return null;
    }

    private HeldElsewhere behind(int winner) {
        return new HeldElsewhere(request(winner).lease());
    }

    private long remaining(ClaimItem seen) {
        return clock.remainingMicros(seen.pk(), seen.mark(), seen.leaseUntil(), seen.leaseMicros());
    }

    private int firstPlace() {
        return requests.keySet().iterator().next();
    }

    private ClaimRequest firstRequest() {
        return request(firstPlace());
    }

    private ClaimRequest request(int place) {
        ClaimRequest request = requests.get(place);
        if (request == null) {
            throw new IllegalStateException("No request at " + place);
        }
        return request;
    }
}
