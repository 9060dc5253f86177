package io.exactlyonce.dynamodb;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.dynamodb.item.ClaimItem;
import io.exactlyonce.dynamodb.item.ItemWrite;
import io.exactlyonce.dynamodb.request.ItemWriter;
import io.exactlyonce.dynamodb.request.WriteAnswer;
import io.exactlyonce.dynamodb.request.WriteAnswer.Differs;
import io.exactlyonce.dynamodb.request.WriteAnswer.Written;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;
import java.util.function.Function;

/**
 * Renewals or ends of many claims: one write for each, on the condition that the claim holds its key.
 *
 * @param <T> a renewal or an end
 */
final class EndCall<T> {

    private final ItemWriter writer;
    private final Function<T, ItemWrite> write;
    private final BiPredicate<T, ClaimItem> already;

    /**
     * @param write what to write
     * @param already whether an item that is not as it was expected shows that nothing needs to be written
     */
    EndCall(ItemWriter writer, Function<T, ItemWrite> write, BiPredicate<T, ClaimItem> already) {
        this.writer = writer;
        this.write = write;
        this.already = already;
    }

    /** Writes for each claim. Of several claims of one key, which no request may have together, one after the other. */
    CompletableFuture<EndAnswers> run(Map<ClaimId, T> claims) {
        return run(claims, new EndAnswers());
    }

    private CompletableFuture<EndAnswers> run(Map<ClaimId, T> claims, EndAnswers answers) {
        Map<ClaimKey, ClaimId> now = new LinkedHashMap<>();
        Map<ClaimId, T> later = new LinkedHashMap<>();
        claims.forEach((claim, value) -> {
            if (now.putIfAbsent(claim.key(), claim) != null) {
                later.put(claim, value);
            }
        });
        if (now.isEmpty()) {
            return CompletableFuture.completedFuture(answers);
        }
        List<ClaimId> batch = List.copyOf(now.values());
        List<ItemWrite> writes = new ArrayList<>();
        batch.forEach(claim -> writes.add(write.apply(value(claims, claim))));
        return writer.write(writes).thenCompose(written -> {
            for (int i = 0; i < batch.size(); i++) {
                answers.add(batch.get(i), granted(value(claims, batch.get(i)), written.get(i)));
            }
            return run(later, answers);
        });
    }

    private WriteAnswer granted(T value, WriteAnswer answer) {
        boolean needless =
                answer instanceof Differs differs && differs.item() != null && already.test(value, differs.item());
        return needless ? new Written() : answer;
    }

    private T value(Map<ClaimId, T> claims, ClaimId claim) {
        T value = claims.get(claim);
        if (value == null) {
            throw new IllegalStateException("No value for " + claim);
        }
        return value;
    }
}
