package io.exactlyonce.chaos.worker;

import io.exactlyonce.BatchResult;
import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.MissingKeyPolicy;
import io.exactlyonce.chaos.dynamodb.DynamoDbService;
import io.exactlyonce.dynamodb.DynamoDbCompletion;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItem;

/**
 * Handlers whose effect is an item, written in the transaction that completes the claim. Each call writes another item,
 * so only the claim prevents a second item.
 */
@Component
@Profile("dynamodb")
class TransactedBookings {

    private final Runs runs;
    private final DynamoDbClient dynamoDb;
    private final DynamoDbCompletion completion;

    TransactedBookings(Runs runs, DynamoDbClient dynamoDb, DynamoDbCompletion completion) {
        this.runs = runs;
        this.dynamoDb = dynamoDb;
        this.completion = completion;
    }

    /**
     * Runs the handler up to the transaction. As with a database, the handler's work precedes its commit. Skips a message
     * without a key.
     */
    @ExactlyOnceListener(
            id = "bookings",
            queueNames = "bookings",
            key = "#job.claimKey()",
            parkFor = HopelessException.class,
            whenKeyMissing = MissingKeyPolicy.SKIP)
    void book(Job job, Claim claim) throws InterruptedException {
        commit(job, claim, runs.run(job, claim, unnamed -> {}));
    }

    /** Uses one transaction for each job of the batch. */
    @ExactlyOnceListener(
            id = "postings",
            queueNames = "postings",
            key = "#payload.key",
            parkFor = HopelessException.class)
    BatchResult post(List<Job> jobs, List<Claim> claims) throws InterruptedException {
        List<String> calls = new ArrayList<>(Collections.nCopies(jobs.size(), ""));
        BatchResult result = runs.runAll(jobs, claims, (job, claim, call) -> calls.set(claims.indexOf(claim), call));
        for (int index = 0; index < jobs.size(); index++) {
            if (!result.failures().containsKey(index)) {
                try {
                    commit(jobs.get(index), claims.get(index), calls.get(index));
                } catch (RuntimeException failure) {
                    result = result.andFailed(index, failure);
                }
            }
        }
        return result;
    }

    private void commit(Job job, Claim claim, String call) {
        runs.reached(Point.BEFORE_COMPLETION);
        dynamoDb.transactWriteItems(transaction -> transaction.transactItems(booking(job, call), completion.of(claim)));
        runs.reached(Point.AFTER_EFFECT);
    }

    private static TransactWriteItem booking(Job job, String call) {
        Map<String, AttributeValue> item =
                Map.of("call", AttributeValue.fromS(call), "key", AttributeValue.fromS(job.key()));
        return TransactWriteItem.builder()
                .put(put -> put.tableName(DynamoDbService.BOOKINGS).item(item))
                .build();
    }
}
