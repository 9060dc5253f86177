package io.exactlyonce.dynamodb;

import io.exactlyonce.dynamodb.clock.ClockMode;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import io.exactlyonce.dynamodb.clock.ServiceClock;
import io.exactlyonce.dynamodb.item.ClaimStatements;
import io.exactlyonce.dynamodb.request.ItemReader;
import io.exactlyonce.dynamodb.request.PartiQl;
import io.exactlyonce.dynamodb.request.Pauses;
import io.exactlyonce.dynamodb.request.Rounds;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

/** All that is made of one table of claims. */
public final class DynamoDbClaims {

    private final DynamoDbClaimStore store;
    private final DynamoDbParkedClaims parked;
    private final DynamoDbCompletion completion;
    private final ItemReader reader;

    /**
     * How claims are kept.
     *
     * @param table its name
     * @param retention how long an item is kept, counted from its lease's end, or from its completion
     * @param mode how it is known that a lease is over
     * @param error by how much the clocks of the service's front ends may differ
     */
    public record Settings(String table, Duration retention, ClockMode mode, Duration error) {}

    /**
     * @param client of the service, that shows its answers to the clock
     * @param settings how claims are kept
     * @param service measures the service's time
     * @param nanos monotonic, in nanoseconds
     * @param pauses between attempts
     */
    public DynamoDbClaims(
            DynamoDbAsyncClient client, Settings settings, ServiceClock service, NanoClock nanos, Pauses pauses) {
        LeaseClock clock = new LeaseClock(service, settings.mode(), settings.error(), nanos);
        ClaimStatements statements = new ClaimStatements(settings.table(), clock, settings.retention());
        this.reader = new ItemReader(client, settings.table(), pauses);
        Rounds rounds = new Rounds(new PartiQl(client), reader, pauses);
        this.store = new DynamoDbClaimStore(rounds, reader, statements, clock);
        this.parked = new DynamoDbParkedClaims(rounds, reader, statements, clock);
        this.completion = new DynamoDbCompletion(statements);
    }

    /** Returns the store. */
    public DynamoDbClaimStore store() {
        return store;
    }

    /** Returns its parked claims. */
    public DynamoDbParkedClaims parked() {
        return parked;
    }

    /** Returns what completes its claims within transactions. */
    public DynamoDbCompletion completion() {
        return completion;
    }

    /**
     * Asks whether the table answers.
     *
     * @throws io.exactlyonce.claim.ClaimStoreUnavailableException if it does not
     */
    public void probe() {
        DynamoDbClaimStore.await(reader.probe());
    }
}
