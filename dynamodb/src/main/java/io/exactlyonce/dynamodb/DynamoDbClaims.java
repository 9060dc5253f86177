package io.exactlyonce.dynamodb;

import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import io.exactlyonce.dynamodb.item.ClaimStatements;
import io.exactlyonce.dynamodb.request.ItemReader;
import io.exactlyonce.dynamodb.request.PartiQl;
import io.exactlyonce.dynamodb.request.Pauses;
import io.exactlyonce.dynamodb.request.Rounds;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

/** One table of claims, and the parts that use it: store, clock, reader, parked claims and completion. */
public final class DynamoDbClaims {

    final ItemReader reader;
    final ClaimStatements statements;
    final LeaseClock clock;
    private final Rounds rounds;

    /**
     * @param client of the service, which passes its responses to the clock
     * @param table its name
     * @param retention how long an item is kept, counted from its lease's end, or from its completion
     * @param clock decides whether leases have expired
     * @param pauses between attempts
     */
    public DynamoDbClaims(
            DynamoDbAsyncClient client, String table, Duration retention, LeaseClock clock, Pauses pauses) {
        this.reader = new ItemReader(client, table, pauses);
        this.statements = new ClaimStatements(table, clock, retention);
        this.clock = clock;
        this.rounds = new Rounds(new PartiQl(client), reader, pauses);
    }

    /** Returns a store. */
    public DynamoDbClaimStore store() {
        return new DynamoDbClaimStore(this);
    }

    /** Returns its parked claims. */
    public DynamoDbParkedClaims parked() {
        return new DynamoDbParkedClaims(this);
    }

    /** Returns the completion of its claims within transactions. */
    public DynamoDbCompletion completion() {
        return new DynamoDbCompletion(statements);
    }

    /**
     * Checks that the table answers.
     *
     * @throws ClaimStoreUnavailableException if it does not
     */
    public void probe() {
        await(reader.probe());
    }

    /** Writes the work of keys. */
    void run(Collection<KeyWork> works) {
        await(rounds.run(works));
    }

    /**
     * Returns the answer, on the caller's thread.
     *
     * @throws ClaimStoreUnavailableException if the service gave none
     */
    static <T extends @Nullable Object> T await(CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException failure) {
            throw PartiQl.unanswered(failure);
        }
    }
}
