package io.exactlyonce.dynamodb.request;

import io.exactlyonce.dynamodb.item.ItemWrite;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Some entries of a list of writes.
 *
 * @param indices which ones
 */
record Entries(List<Integer> indices) {

    /** Returns those whose answer is such. */
    static Entries where(List<WriteAnswer> answers, Predicate<WriteAnswer> such) {
        return new Entries(IntStream.range(0, answers.size())
                .filter(i -> such.test(answers.get(i)))
                .boxed()
                .toList());
    }

    /** Sends these again, and returns all answers, the new ones among them. */
    CompletableFuture<List<WriteAnswer>> replaced(
            List<ItemWrite> writes,
            List<WriteAnswer> answers,
            Function<List<ItemWrite>, CompletableFuture<List<WriteAnswer>>> send) {
        return send.apply(indices.stream().map(writes::get).toList()).thenApply(again -> {
            List<WriteAnswer> all = new ArrayList<>(answers);
            for (int i = 0; i < again.size(); i++) {
                all.set(indices.get(i), again.get(i));
            }
            return all;
        });
    }
}
