package io.exactlyonce.dynamodb.request;

import io.exactlyonce.dynamodb.item.ItemWrite;
import io.exactlyonce.dynamodb.request.WriteAnswer.Again;
import io.exactlyonce.dynamodb.request.WriteAnswer.Differs;
import io.exactlyonce.dynamodb.request.WriteAnswer.Written;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

/**
 * Writes items, each on its own condition. Entries that the service throttled, or that a transaction of the application's kept
 * locked, are sent again after a pause, the others are not.
 *
 * <p>A write whose answer was lost is repeated, by the SDK too, and then fails on its own condition: the item shows its mark, so
 * it counts as written.
 */
public final class ItemWriter {

    private final WriteRequests requests;
    private final Pauses pauses;

    /**
     * @param client of the service
     * @param table the table of claims
     * @param pauses between attempts
     */
    public ItemWriter(DynamoDbAsyncClient client, String table, Pauses pauses) {
        this(new AllowedRequests(client, table), pauses);
    }

    ItemWriter(WriteRequests requests, Pauses pauses) {
        this.requests = requests;
        this.pauses = pauses;
    }

    /**
     * Writes.
     *
     * @param writes of different items
     * @return one answer for each, in the same order; an {@link Again} has been tried often enough. The future never fails
     */
    public CompletableFuture<List<WriteAnswer>> write(List<ItemWrite> writes) {
        return writes.isEmpty() ? CompletableFuture.completedFuture(List.of()) : write(writes, 1);
    }

    /**
     * Lets several writes share requests: what the task has begun to write when it returns is sent together.
     *
     * @param task begins to write with what it is given, each item once, and waits for no answer
     * @return what the task returns
     */
    public <T> T together(Function<ItemWriter, T> task) {
        Gathering gathering = new Gathering(requests);
        T begun = task.apply(new ItemWriter(gathering, pauses));
        gathering.sendAll();
        return begun;
    }

    private CompletableFuture<List<WriteAnswer>> write(List<ItemWrite> writes, int attempt) {
        return requests.send(writes).thenCompose(sent -> {
            List<WriteAnswer> answers = byMark(writes, sent);
            Entries again = Entries.where(answers, answer -> answer instanceof Again);
            if (again.indices().isEmpty() || attempt > Pauses.ATTEMPTS) {
                return CompletableFuture.completedFuture(answers);
            }
            return pauses.before(attempt)
                    .thenCompose(over -> again.replaced(writes, answers, some -> write(some, attempt + 1)));
        });
    }

    private static List<WriteAnswer> byMark(List<ItemWrite> writes, List<WriteAnswer> answers) {
        List<WriteAnswer> all = new ArrayList<>(answers.size());
        for (int i = 0; i < answers.size(); i++) {
            all.add(isOurs(writes.get(i), answers.get(i)) ? new Written() : answers.get(i));
        }
        return all;
    }

    private static boolean isOurs(ItemWrite write, WriteAnswer answer) {
        return answer instanceof Differs differs
                && differs.item() != null
                && differs.item().mark().equals(write.mark());
    }
}
