package io.exactlyonce.dynamodb;

import io.exactlyonce.claim.ClaimEnd;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import io.exactlyonce.dynamodb.item.ClaimItem;
import io.exactlyonce.dynamodb.item.ClaimWrites;
import io.exactlyonce.dynamodb.request.ItemReader;
import io.exactlyonce.dynamodb.request.ItemWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Claims and ends, many at a time.
 *
 * @param writer writes to the table of claims
 * @param reader reads from it
 * @param clock says whether leases are over
 * @param writes what a claim's steps write
 */
record ClaimCalls(ItemWriter writer, ItemReader reader, LeaseClock clock, ClaimWrites writes) {

    /** Returns the same by another writer. */
    ClaimCalls with(ItemWriter other) {
        return new ClaimCalls(other, reader, clock, writes);
    }

    CompletableFuture<List<ClaimOutcome>> claim(List<ClaimRequest> requests) {
        return new ClaimCall(writer, reader, clock, writes, requests).run();
    }

    CompletableFuture<Set<ClaimId>> end(List<? extends ClaimEnd> ends) {
        try {
            ends.forEach(ClaimCalls::requireStorable);
        } catch (IllegalArgumentException unstorable) {
            return CompletableFuture.failedFuture(unstorable);
        }
        Map<ClaimId, ClaimEnd> once = new LinkedHashMap<>();
        ends.forEach(end -> once.putIfAbsent(end.claim(), end));
        return new EndCall<ClaimEnd>(writer, writes::end, ClaimCalls::isRecorded)
                .run(once)
                .thenApply(EndAnswers::requireAnswers);
    }

    private static boolean isRecorded(ClaimEnd end, ClaimItem item) {
        return end instanceof ClaimEnd.Completed && item.isCompletedBy(end.claim());
    }

    /** Before anything is written: with one end that cannot be, none is, so that all can be repeated without it. */
    private static void requireStorable(ClaimEnd end) {
        if (end instanceof ClaimEnd.Completed completed) {
            DynamoDbClaimStore.requireStorable(completed.result());
        }
    }
}
