package io.exactlyonce.dynamodb.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.exactlyonce.dynamodb.item.ClaimStatements.Statement;
import io.exactlyonce.dynamodb.request.PartiQl.Answer;
import io.exactlyonce.dynamodb.request.PartiQl.Written;
import io.exactlyonce.dynamodb.testing.FakeScheduler;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchExecuteStatementResponse;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementErrorCodeEnum;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchStatementResponse;

class RoundsTests {

    private final List<String> throttled = new ArrayList<>();
    private final List<List<String>> sent = new ArrayList<>();
    private final Deque<Runnable> pauses = new ArrayDeque<>();
    private final Rounds rounds = rounds();

    @Test
    void otherKeysOfAThrottledRequestContinueBeforeItIsThrough() {
        Key slow = new Key("slow 1", "slow 2");
        Key other = new Key("other 1", "other 2", "other 3");
        throttled.addAll(List.of("slow 1", "slow 1"));

        CompletableFuture<?> done = rounds.run(List.of(slow, other));

        assertThat(other.left).isEmpty();
        assertThat(sent).containsExactly(List.of("slow 1", "other 1"), List.of("other 2"), List.of("other 3"));
        assertThat(done).isNotDone();

        pauses.remove().run();
        assertThat(slow.left).hasSize(2);
        assertThat(done).isNotDone();

        pauses.remove().run();
        assertThat(done).isCompleted();
        assertThat(sent.subList(3, 6)).containsExactly(List.of("slow 1"), List.of("slow 1"), List.of("slow 2"));
    }

    private Rounds rounds() {
        Pauses held = Pauses.withFullJitter(new FakeScheduler((delay, task) -> pauses.add(task)));
        Service service = new Service();
        return new Rounds(new PartiQl(service), new ItemReader(service, "claims", held), held);
    }

    /** A key that requests one write after the other. */
    private static final class Key implements Rounds.Work {

        private final Deque<String> left;

        private Key(String... writes) {
            this.left = new ArrayDeque<>(List.of(writes));
        }

        @Override
        public String pk() {
            return "unread";
        }

        @Override
        public @Nullable Statement next() {
            return left.isEmpty() ? null : new Statement(left.element(), List.of(), "version", false);
        }

        @Override
        public void answered(Answer answer) {
            assertThat(answer).isInstanceOf(Written.class);
            left.remove();
        }
    }

    /** Throttles a write once for each of its entries in {@code throttled}, and executes all other writes. */
    private final class Service implements DynamoDbAsyncClient {

        @Override
        public CompletableFuture<BatchExecuteStatementResponse> batchExecuteStatement(
                BatchExecuteStatementRequest request) {
            List<String> texts = request.statements().stream()
                    .map(BatchStatementRequest::statement)
                    .toList();
            sent.add(texts);
            return CompletableFuture.completedFuture(BatchExecuteStatementResponse.builder()
                    .responses(texts.stream().map(this::answer).toList())
                    .build());
        }

        private BatchStatementResponse answer(String text) {
            return throttled.remove(text)
                    ? BatchStatementResponse.builder()
                            .error(error -> error.code(BatchStatementErrorCodeEnum.PROVISIONED_THROUGHPUT_EXCEEDED))
                            .build()
                    : BatchStatementResponse.builder().build();
        }

        @Override
        public String serviceName() {
            return "dynamodb";
        }

        @Override
        public void close() {}
    }
}
