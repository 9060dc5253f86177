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

/** A claim table, and the objects that use it: store, clock, reader, parked claims and completion. */
public final class DynamoDbClaims {

    final ItemReader reader;
    final ClaimStatements statements;
    final LeaseClock clock;
    private final Rounds rounds;

    /**
     * @param client DynamoDB client, with the clock's interceptor
     * @param table name of the claim table
     * @param retention how long an item is kept after the end of its lease, or after its completion
     * @param clock decides whether leases have expired
     * @param pauses delays before requests are repeated
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

    /** Returns the object with which application transactions complete claims of this table. */
    public DynamoDbCompletion completion() {
        return new DynamoDbCompletion(statements);
    }

    /**
     * Checks that DynamoDB answers and that the table exists.
     *
     * @throws ClaimStoreUnavailableException if DynamoDB does not answer, or reports a failure
     */
    public void probe() {
        await(reader.probe());
    }

    /** Sends all writes for these keys, and waits for the answers. */
    void run(Collection<KeyWork> works) {
        await(rounds.run(works));
    }

    /**
     * Blocks the calling thread until a request is answered, and returns the answer.
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
