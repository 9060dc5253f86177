package io.exactlyonce.dynamodb;

import io.exactlyonce.ClaimLife;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import io.exactlyonce.dynamodb.item.ClaimItem;
import io.exactlyonce.dynamodb.item.ClaimItem.Status;
import io.exactlyonce.dynamodb.item.ClaimWrites;
import io.exactlyonce.dynamodb.item.ParkedOrder;
import io.exactlyonce.dynamodb.request.ItemReader;
import io.exactlyonce.dynamodb.request.ItemWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The parked items of the table of claims.
 *
 * <p>Not guaranteed: that {@link #list} has what was parked a moment ago, for its index is written after the table. It never has
 * what is parked no more; {@link #find} and both decisions are as current as the claims. Claims of one microsecond come in the
 * order of their keys' hashes.
 */
public final class DynamoDbParkedClaims implements ParkedClaims {

    private final ItemWriter writer;
    private final ItemReader reader;
    private final ClaimWrites writes;
    private final LeaseClock clock;

    /**
     * @param writer writes to the table of claims
     * @param reader reads from it
     * @param writes what a decision writes
     * @param clock says whether leases are over
     */
    DynamoDbParkedClaims(ItemWriter writer, ItemReader reader, ClaimWrites writes, LeaseClock clock) {
        this.writer = writer;
        this.reader = reader;
        this.writes = writes;
        this.clock = clock;
    }

    @Override
    public List<ParkedClaim> list(@Nullable ParkedClaim after, int limit) {
        List<ParkedClaim> found = new ArrayList<>();
        String from = ParkedOrder.after(after);
        while (found.size() < limit) {
            List<ClaimItem> page = Answers.await(reader.parked(from, limit - found.size()));
            if (page.isEmpty()) {
                break;
            }
            Map<String, ClaimItem> current =
                    Answers.await(reader.read(page.stream().map(ClaimItem::pk).toList()));
            page.stream()
                    .filter(entry -> isStillThere(entry, current.get(entry.pk())))
                    .map(entry -> parked(Objects.requireNonNull(current.get(entry.pk()))))
                    .forEach(found::add);
            from = page.get(page.size() - 1).parkedOrder();
        }
        return found;
    }

    /** It may have been decided on since, and even parked again, in a later place. */
    private static boolean isStillThere(ClaimItem entry, @Nullable ClaimItem current) {
        return current != null
                && current.status() == Status.PARKED
                && current.parkedOrder().equals(entry.parkedOrder());
    }

    @Override
    public Optional<ParkedClaim> find(ClaimKey key) {
        return Optional.ofNullable(
                        Answers.await(reader.read(Set.of(key.hash()))).get(key.hash()))
                .filter(item -> item.status() == Status.PARKED)
                .map(DynamoDbParkedClaims::parked);
    }

    @Override
    public Optional<ClaimLife> life(ClaimKey key) {
        return Optional.ofNullable(
                        Answers.await(reader.read(Set.of(key.hash()))).get(key.hash()))
                .map(item -> item.life(isLeaseOver(item)));
    }

    private boolean isLeaseOver(ClaimItem item) {
        return clock.remainingMicros(item.pk(), item.mark(), item.leaseUntil(), item.leaseMicros()) <= 0;
    }

    @Override
    public boolean release(ClaimId claim) {
        return decide(new EndCall<>(writer, writes::releaseParked, (of, item) -> false), claim, Function.identity());
    }

    @Override
    public boolean complete(ClaimEnd.Completed completion) {
        DynamoDbClaimStore.requireStorable(completion.result());
        return decide(
                new EndCall<>(writer, writes::completeParked, (of, item) -> false),
                completion,
                ClaimEnd.Completed::claim);
    }

    private static <T> boolean decide(EndCall<T> call, T decision, Function<T, ClaimId> claim) {
        Map<ClaimId, T> one = new LinkedHashMap<>();
        one.put(claim.apply(decision), decision);
        return !Answers.await(call.run(one)).requireAnswers().isEmpty();
    }

    private static ParkedClaim parked(ClaimItem item) {
        return new ParkedClaim(
                item.scope(),
                item.key(),
                item.claimId(),
                item.attempt(),
                item.isAmbiguous(),
                item.error(),
                item.parkedAtMicros());
    }
}
