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

/**
 * One claim table, with the objects that use it: the store, the clock, the reader, the parked claims and the
 * completion.
 */
public final class DynamoDbClaims {

    final ItemReader reader;
    final ClaimStatements statements;
    final LeaseClock clock;
    private final Rounds rounds;

    /**
     * @param client client of the service, which passes its responses to the clock
     * @param table the table's name
     * @param retention how long an item is kept, counted from the end of its lease, or from its completion
     * @param clock decides whether leases have expired
     * @param pauses the pauses before repeated requests
     */
    public DynamoDbClaims(
            DynamoDbAsyncClient client, String table, Duration retention, LeaseClock clock, Pauses pauses) {
        this.reader = new ItemReader(client, table, pauses);
        this.statements = new ClaimStatements(table, clock, retention);
        this.clock = clock;
        this.rounds = new Rounds(new PartiQl(client), reader, pauses);
    }

    /** Returns the table's claim store. */
    public DynamoDbClaimStore store() {
        return new DynamoDbClaimStore(this);
    }

    /** Returns the table's parked claims. */
    public DynamoDbParkedClaims parked() {
        return new DynamoDbParkedClaims(this);
    }

    /** Returns the object that completes claims of this table within application transactions. */
    public DynamoDbCompletion completion() {
        return new DynamoDbCompletion(statements);
    }

    /**
     * Checks that the service answers and that the table exists.
     *
     * @throws ClaimStoreUnavailableException if the service does not answer, or reports a failure
     */
    public void probe() {
        await(reader.probe());
    }

    /** Sends all writes of the given work, and waits for the answers. */
    void run(Collection<KeyWork> works) {
        await(rounds.run(works));
    }

    /**
     * Waits for an answer on the caller's thread, and returns the answer.
     *
     * @throws ClaimStoreUnavailableException if the request failed, or got no answer
     */
    static <T extends @Nullable Object> T await(CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException failure) {
            throw PartiQl.unanswered(failure);
        }
    }
}
