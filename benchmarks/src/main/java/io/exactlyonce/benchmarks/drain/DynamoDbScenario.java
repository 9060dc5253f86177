package io.exactlyonce.benchmarks.drain;

import static io.exactlyonce.benchmarks.worker.Protection.EXTERNAL;

import io.exactlyonce.benchmarks.Plan;
import io.exactlyonce.benchmarks.Reading;
import io.exactlyonce.benchmarks.Scenario;
import io.exactlyonce.benchmarks.process.DynamoDb;
import io.exactlyonce.benchmarks.process.Servers;
import io.exactlyonce.benchmarks.report.Findings;
import java.util.Locale;
import java.util.Optional;

/**
 * (k): the requests to DynamoDB per message, if claims are kept there. Only counts are measured, because the speed of
 * DynamoDB Local means nothing.
 */
public final class DynamoDbScenario implements Scenario {

    private static final int CONCURRENCY = 100;
    private static final int EACH_FIFTH = 5;

    @Override
    public void run(Plan plan, Findings findings) throws Exception {
        Optional<DynamoDb> dynamoDb = DynamoDb.start();
        if (dynamoDb.isEmpty()) {
            findings.note(
                    "Not counted: DynamoDB Local is not there. `./mvnw -pl dynamodb-local generate-resources` fetches it.");
            return;
        }
        try (DynamoDb claims = dynamoDb.get();
                Servers servers = Servers.start()) {
            String rows = count(plan, findings, servers, claims, "first deliveries", 0, "k")
                    + count(
                            plan,
                            findings,
                            servers,
                            claims,
                            "each fifth message a duplicate",
                            EACH_FIFTH,
                            "k_duplicates");
            findings.table(
                    "Claims in DynamoDB, no-op handler, EXTERNAL, concurrency %d: counts for each message"
                            .formatted(CONCURRENCY),
                    "| | requests | write units |%n|---|---|---|%n".formatted() + rows);
        }
    }

    /** Returns a row of the table. */
    private static String count(
            Plan plan, Findings findings, Servers servers, DynamoDb claims, String what, int duplicates, String name)
            throws Exception {
        Listener listener = Listener.of(EXTERNAL, CONCURRENCY);
        for (String property : claims.properties()) {
            listener = listener.with(property);
        }
        try (DrainingListener contestant = new DrainingListener(servers, listener, name, duplicates)) {
            contestant.warmUp(plan.warmUp());
            Reading reading = contestant.run(plan.turn());
            double requests = reading.figures().getOrDefault(DrainingListener.STORE_REQUESTS, Double.NaN);
            double writes = reading.figures().getOrDefault(DrainingListener.STORE_WRITES, Double.NaN);
            findings.figure(name + "_requests_per_message", requests);
            findings.figure(name + "_write_units_per_message", writes);
            return String.format(Locale.ROOT, "| %s | %.3f | %.2f |%n", what, requests, writes);
        }
    }
}
