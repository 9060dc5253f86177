package io.exactlyonce.dynamodb;

import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import io.exactlyonce.dynamodb.item.ClaimWrites;
import io.exactlyonce.dynamodb.item.ItemWrite;
import io.exactlyonce.dynamodb.request.ItemReader;
import io.exactlyonce.dynamodb.request.ItemWriter;
import io.exactlyonce.dynamodb.request.WriteAnswer;
import io.exactlyonce.dynamodb.request.WriteAnswer.Again;
import io.exactlyonce.dynamodb.request.WriteAnswer.Differs;
import io.exactlyonce.dynamodb.request.WriteAnswer.Failed;
import io.exactlyonce.dynamodb.request.WriteAnswer.Taken;
import io.exactlyonce.dynamodb.request.WriteAnswer.Unstorable;
import io.exactlyonce.dynamodb.request.WriteAnswer.Written;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * One call for many keys, in rounds:
 *
 * <ol>
 *   <li>Keys of which nothing is known are claimed for the first time.
 *   <li>Where that shows an item, it is decided on what was seen: answered, or written on the condition that it is still so.
 *   <li>Where it is not, it is decided on what is there now.
 * </ol>
 *
 * <p>The common case is one round, of one request per 25 keys.
 */
final class ClaimCall {

    /** A key that changes hands during each of them is a fault elsewhere. */
    private static final int MOST_ROUNDS = 20;

    private final ItemWriter writer;
    private final ItemReader reader;
    private final LeaseClock clock;
    private final List<KeyRequests> keys;
    private final int size;

    ClaimCall(ItemWriter writer, ItemReader reader, LeaseClock clock, ClaimWrites writes, List<ClaimRequest> requests) {
        this.writer = writer;
        this.reader = reader;
        this.clock = clock;
        this.size = requests.size();
        Map<ClaimKey, KeyRequests> byKey = new LinkedHashMap<>();
        for (int place = 0; place < size; place++) {
            ClaimRequest request = requests.get(place);
            byKey.computeIfAbsent(request.key(), key -> new KeyRequests(writes, clock))
                    .add(place, request);
        }
        this.keys = List.copyOf(byKey.values());
    }

    CompletableFuture<List<ClaimOutcome>> run() {
        return round(keys, 1).thenApply(done -> outcomes());
    }

    private CompletableFuture<Void> round(List<KeyRequests> open, int number) {
        List<KeyRequests> writing = new ArrayList<>();
        List<ItemWrite> writes = new ArrayList<>();
        for (KeyRequests key : open) {
            key.next().ifPresent(write -> {
                writing.add(key);
                writes.add(write);
            });
        }
        if (writing.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        if (number > MOST_ROUNDS) {
            return CompletableFuture.failedFuture(new ClaimStoreUnavailableException(
                    "%d keys changed hands %d times while they were claimed".formatted(writing.size(), MOST_ROUNDS),
                    null));
        }
        boolean before = clock.isContradicted();
        return writer.write(writes).thenCompose(answers -> {
            boolean leasesAreDoubtful = !before && clock.isContradicted();
            List<KeyRequests> unseen = new ArrayList<>();
            List<KeyRequests> undecided = new ArrayList<>();
            for (int i = 0; i < answers.size(); i++) {
                WriteAnswer answer = answers.get(i);
                if (answer instanceof Taken || (answer instanceof Written && leasesAreDoubtful)) {
                    unseen.add(writing.get(i));
                } else if (!isAnswered(writing.get(i), answer)) {
                    undecided.add(writing.get(i));
                }
            }
            return see(unseen).thenCompose(seen -> {
                undecided.addAll(unseen);
                return round(undecided, number + 1);
            });
        });
    }

    private static boolean isAnswered(KeyRequests key, WriteAnswer answer) {
        if (answer instanceof Differs differs) {
            key.saw(differs.item());
            return false;
        }
        if (answer instanceof Written) {
            key.written();
        } else if (answer instanceof Again again && again.isLocked()) {
            key.locked();
        } else {
            throw unanswered(answer);
        }
        return true;
    }

    private static RuntimeException unanswered(WriteAnswer answer) {
        if (answer instanceof Unstorable unstorable) {
            return new IllegalArgumentException("DynamoDB cannot store one of these keys: " + unstorable.reason());
        }
        if (answer instanceof Again again) {
            return new ClaimStoreUnavailableException("DynamoDB did not take a claim: " + again.reason(), null);
        }
        Throwable failure = ((Failed) answer).failure();
        return new ClaimStoreUnavailableException("DynamoDB did not answer a claim: " + failure.getMessage(), failure);
    }

    private CompletableFuture<Void> see(List<KeyRequests> unseen) {
        if (unseen.isEmpty()) {
            return CompletableFuture.completedFuture(null);
        }
        return reader.read(unseen.stream().map(KeyRequests::pk).toList())
                .thenAccept(found -> unseen.forEach(key -> key.saw(found.get(key.pk()))));
    }

    private List<ClaimOutcome> outcomes() {
        ClaimOutcome[] all = new ClaimOutcome[size];
        keys.forEach(key -> key.outcomes().forEach((place, outcome) -> all[place] = outcome));
        return Arrays.asList(all);
    }
}
