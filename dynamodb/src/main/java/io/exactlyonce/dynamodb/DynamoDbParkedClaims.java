package io.exactlyonce.dynamodb;

import static io.exactlyonce.dynamodb.DynamoDbClaims.await;

import io.exactlyonce.ClaimDetails;
import io.exactlyonce.ParkedClaim;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.KeyStatus;
import io.exactlyonce.claim.ParkedClaims;
import io.exactlyonce.claim.backend.Turns;
import io.exactlyonce.dynamodb.item.ClaimItem;
import io.exactlyonce.dynamodb.item.ClaimStatements.Statement;
import io.exactlyonce.dynamodb.request.PartiQl;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Lists the parked items of the claim table, and stores operators' decisions about them. The methods that list items,
 * or find one by its hash, read an index that lags a moment behind the table.
 *
 * <p>Guaranteed: a list contains only claims that are parked at the time of the call. {@link #find},
 * {@link #releaseAll} and {@link #completeAll} use current data.
 *
 * <p>Not guaranteed: that a list or a lookup by hash finds a claim that was parked a moment ago.
 *
 * <p>Claims that were parked in the same microsecond are sorted by their keys' hashes. At most one lookup and one
 * decision run at a time, so operators use at most two of the client's connections.
 */
public final class DynamoDbParkedClaims implements ParkedClaims {

    private static final int ITEMS_IN_A_REQUEST = 100;

    /** Limit of index pages that a lookup by hash reads. Together, they contain about 100,000 parked items. */
    private static final int PAGES_OF_HASHES = 20;

    private final DynamoDbClaims table;
    private final Turns looking = new Turns();
    private final Turns deciding = new Turns();

    DynamoDbParkedClaims(DynamoDbClaims table) {
        this.table = table;
    }

    @Override
    public List<ParkedClaim> list(@Nullable ParkedClaim after, int limit) {
        return looking.alone(() -> page(after, limit));
    }

    private List<ParkedClaim> page(@Nullable ParkedClaim after, int limit) {
        List<ParkedClaim> found = new ArrayList<>();
        String from = after == null
                ? "0"
                : ClaimItem.parkedOrder(
                        ChronoUnit.MICROS.between(Instant.EPOCH, after.parkedAt()),
                        new ClaimKey(after.scope(), after.key()).downstreamKey());
        while (found.size() < limit) {
            List<ClaimItem> page = await(table.reader.parked(from, Math.min(ITEMS_IN_A_REQUEST, limit - found.size())));
            if (page.isEmpty()) {
                break;
            }
            Map<String, ClaimItem> current =
                    await(table.reader.read(page.stream().map(ClaimItem::pk).toList()));
            for (ClaimItem entry : page) {
                ClaimItem item = current.get(entry.pk());
                // The index may lag behind the table. An entry is skipped if its key is no longer parked. If the key
                // was parked again, its old entry is skipped, too, because the key has a new entry later in the index.
                if (item != null
                        && item.status() == KeyStatus.PARKED
                        && item.parkedOrder().equals(entry.parkedOrder())) {
                    found.add(item.parked());
                }
            }
            String last = page.get(page.size() - 1).parkedOrder();
            if (last.compareTo(from) <= 0) {
                throw new ClaimStoreUnavailableException(
                        "DynamoDB returned a page of parked claims twice; the list is incomplete", null);
            }
            from = last;
        }
        return found;
    }

    @Override
    public Optional<ParkedClaim> find(ClaimKey key) {
        return item(key).filter(item -> item.status() == KeyStatus.PARKED).map(ClaimItem::parked);
    }

    @Override
    public Optional<ClaimDetails> details(ClaimKey key) {
        return item(key).map(item -> item.details(table.clock));
    }

    @Override
    public Optional<ParkedClaim> findByKeyHash(String scope, String hash) {
        return looking.alone(() -> await(table.reader.parkedBeginning(hash, PAGES_OF_HASHES)).stream()
                .flatMap(entry -> item(entry.pk()).stream())
                .filter(item -> item.status() == KeyStatus.PARKED)
                .map(ClaimItem::parked)
                .filter(parked -> parked.scope().equals(scope))
                .findFirst());
    }

    private Optional<ClaimItem> item(ClaimKey key) {
        return looking.alone(() -> item(key.downstreamKey()));
    }

    private Optional<ClaimItem> item(String pk) {
        return Optional.ofNullable(await(table.reader.read(List.of(pk))).get(pk));
    }

    @Override
    public Set<ClaimId> releaseAll(Collection<ClaimId> claims) {
        Map<ClaimKey, KeyWork> works = new LinkedHashMap<>();
        claims.forEach(claim ->
                change(works, claim, table.statements.releaseParked(claim.key().downstreamKey(), claim)));
        return decide(works.values());
    }

    @Override
    public Set<ClaimId> completeAll(Collection<ClaimResolution.Completed> completions) {
        completions.forEach(completion -> DynamoDbClaimStore.requireStorable(completion.result()));
        Map<ClaimKey, KeyWork> works = new LinkedHashMap<>();
        completions.forEach(completion -> change(
                works,
                completion.claim(),
                table.statements.completeParked(completion.claim().key().downstreamKey(), completion)));
        return decide(works.values());
    }

    /**
     * Groups decisions by key, because a request must not contain an item twice. Operators may decide about two claims
     * of one key: an earlier claim, and the current one.
     */
    private void change(Map<ClaimKey, KeyWork> works, ClaimId claim, Statement decision) {
        works.computeIfAbsent(claim.key(), key -> new KeyWork(key, table)).change(claim, decision);
    }

    private Set<ClaimId> decide(Collection<KeyWork> decided) {
        List<KeyWork> works = List.copyOf(decided);
        return deciding.alone(() -> {
            for (int from = 0; from < works.size(); from += PartiQl.MOST_STATEMENTS) {
                table.run(works.subList(from, Math.min(from + PartiQl.MOST_STATEMENTS, works.size())));
            }
            return KeyWork.answers(works).requireAll();
        });
    }
}
