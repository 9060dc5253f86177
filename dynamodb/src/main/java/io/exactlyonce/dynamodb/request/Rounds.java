package io.exactlyonce.dynamodb.request;

import io.exactlyonce.dynamodb.item.ClaimStatements.Statement;
import io.exactlyonce.dynamodb.request.PartiQl.Again;
import io.exactlyonce.dynamodb.request.PartiQl.Answer;
import io.exactlyonce.dynamodb.request.PartiQl.Differs;
import io.exactlyonce.dynamodb.request.PartiQl.Failed;
import io.exactlyonce.dynamodb.request.PartiQl.Taken;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Sends writes for many keys in shared requests. A key may need several writes: when one is answered, the next one is
 * sent.
 *
 * <p>A write is sent again after a delay, at most six times, if DynamoDB throttled it or reported an internal error.
 * The same is done while an application transaction locks the item. Other keys continue during the delay.
 */
public final class Rounds {

    private static final CompletableFuture<@Nullable Void> DONE = CompletableFuture.completedFuture(null);

    private final PartiQl partiQl;
    private final ItemReader reader;
    private final Pauses pauses;

    /** Chooses one write after the other for an item, until a call is done. Used by one thread at a time. */
    public interface Work {

        /** Returns the item's partition key. */
        String pk();

        /**
         * Returns the next write, or {@code null} if no write is left. Until {@link #answered} is called, returns the
         * same write again.
         */
        @Nullable Statement next();

        /** Takes the answer to the write that {@link #next} returned. */
        void answered(Answer answer);
    }

    /**
     * @param partiQl sends the writes
     * @param reader reads an item if DynamoDB did not return it with the answer
     * @param pauses delays before a write is sent again
     */
    public Rounds(PartiQl partiQl, ItemReader reader, Pauses pauses) {
        this.partiQl = partiQl;
        this.reader = reader;
        this.pauses = pauses;
    }

    /** Sends the writes for different items. The future completes when no item needs another write. */
    public CompletableFuture<@Nullable Void> run(Collection<? extends Work> works) {
        return DONE.thenCompose(begin -> round(works, 1));
    }

    private CompletableFuture<@Nullable Void> round(Collection<? extends Work> works, int attempt) {
        List<Work> writing = new ArrayList<>(works.size());
        List<Statement> statements = new ArrayList<>(works.size());
        for (Work work : works) {
            Statement next = work.next();
            if (next != null) {
                writing.add(work);
                statements.add(next);
            }
        }
        return writing.isEmpty()
                ? DONE
                : partiQl.write(statements).thenCompose(answers -> goOn(writing, answers, attempt));
    }

    private CompletableFuture<@Nullable Void> goOn(List<Work> works, List<Answer> answers, int attempt) {
        List<Work> refused = new ArrayList<>();
        List<Work> unseen = new ArrayList<>();
        List<Work> answered = new ArrayList<>();
        for (int i = 0; i < works.size(); i++) {
            Work work = works.get(i);
            if (answers.get(i) instanceof Again && attempt <= Pauses.ATTEMPTS) {
                refused.add(work);
            } else if (answers.get(i) instanceof Taken) {
                unseen.add(work);
            } else {
                work.answered(answers.get(i));
                answered.add(work);
            }
        }
        CompletableFuture<@Nullable Void> next = see(unseen).thenCompose(seen -> {
            answered.addAll(unseen);
            return round(answered, 1);
        });
        return refused.isEmpty()
                ? next
                : CompletableFuture.allOf(next, pauses.after(attempt).thenCompose(over -> round(refused, attempt + 1)));
    }

    private CompletableFuture<@Nullable Void> see(List<Work> unseen) {
        if (unseen.isEmpty()) {
            return DONE;
        }
        return reader.read(unseen.stream().map(Work::pk).toList()).handle((found, failure) -> {
            unseen.forEach(work -> work.answered(
                    failure == null ? new Differs(found.get(work.pk())) : new Failed(PartiQl.unanswered(failure))));
            return null;
        });
    }
}
