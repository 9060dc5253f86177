package io.exactlyonce.dynamodb.request;

import io.exactlyonce.dynamodb.item.ItemWrite;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** One way to send writes of different items. */
interface WriteRequests {

    /** Sends each once. Returns one answer for each, in the same order; the future never fails. */
    CompletableFuture<List<WriteAnswer>> send(List<ItemWrite> writes);
}
