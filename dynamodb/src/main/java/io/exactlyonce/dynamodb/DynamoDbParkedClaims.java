package io.exactlyonce.dynamodb;

import static io.exactlyonce.dynamodb.DynamoDbClaimStore.await;

import io.exactlyonce.ClaimLife;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import io.exactlyonce.dynamodb.item.ClaimItem;
import io.exactlyonce.dynamodb.item.ClaimItem.Status;
import io.exactlyonce.dynamodb.item.ClaimStatements;
import io.exactlyonce.dynamodb.request.ItemReader;
import io.exactlyonce.dynamodb.request.Rounds;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The parked items of the table of claims.
 *
 * <p>Not guaranteed: that {@link #list} has what was parked a moment ago, for its index is written after the table. It never has
 * what is parked no more; {@link #find} and both decisions are as current as the claims. Claims of one microsecond come in the
 * order of their keys' hashes.
 */
public final class DynamoDbParkedClaims implements ParkedClaims {

    private final Rounds rounds;
    private final ItemReader reader;
    private final ClaimStatements statements;
    private final LeaseClock clock;

    /**
     * @param rounds writes to the table of claims
     * @param reader reads from it
     * @param statements what a decision writes
     * @param clock says whether leases are over
     */
    DynamoDbParkedClaims(Rounds rounds, ItemReader reader, ClaimStatements statements, LeaseClock clock) {
        this.rounds = rounds;
        this.reader = reader;
        this.statements = statements;
        this.clock = clock;
    }

    @Override
    public List<ParkedClaim> list(@Nullable ParkedClaim after, int limit) {
        List<ParkedClaim> found = new ArrayList<>();
        String from = after == null
                ? "0"
                : ClaimItem.parkedOrder(after.parkedAtMicros(), new ClaimKey(after.scope(), after.key()).hash());
        while (found.size() < limit) {
            List<ClaimItem> page = await(reader.parked(from, limit - found.size()));
            if (page.isEmpty()) {
                break;
            }
            Map<String, ClaimItem> current =
                    await(reader.read(page.stream().map(ClaimItem::pk).toList()));
            for (ClaimItem entry : page) {
                ClaimItem item = current.get(entry.pk());
                // It may have been decided on since, and even parked again, in a later place.
                if (item != null
                        && item.status() == Status.PARKED
                        && item.parkedOrder().equals(entry.parkedOrder())) {
                    found.add(parked(item));
                }
                from = entry.parkedOrder();
            }
        }
        return found;
    }

    @Override
    public Optional<ParkedClaim> find(ClaimKey key) {
        return item(key).filter(item -> item.status() == Status.PARKED).map(DynamoDbParkedClaims::parked);
    }

    @Override
    public Optional<ClaimLife> life(ClaimKey key) {
        return item(key).map(item -> item.life(clock));
    }

    private Optional<ClaimItem> item(ClaimKey key) {
        String pk = key.hash();
        return Optional.ofNullable(await(reader.read(List.of(pk))).get(pk));
    }

    @Override
    public boolean release(ClaimId claim) {
        return decide(work(claim).releaseParked(claim));
    }

    @Override
    public boolean complete(ClaimEnd.Completed completion) {
        DynamoDbClaimStore.requireStorable(completion.result());
        return decide(work(completion.claim()).completeParked(completion));
    }

    private KeyWork work(ClaimId claim) {
        return new KeyWork(claim.key(), statements, clock);
    }

    private boolean decide(KeyWork decision) {
        await(rounds.run(List.of(decision)));
        return !KeyWork.granted(List.of(decision)).isEmpty();
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
