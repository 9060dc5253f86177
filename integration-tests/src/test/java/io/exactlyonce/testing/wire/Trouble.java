package io.exactlyonce.testing.wire;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import tools.jackson.databind.node.ObjectNode;

/** A fault of a request or its answer, between a client and SQS or inside SQS. */
@FunctionalInterface
public interface Trouble {

    /** The request never arrives. */
    Trouble REQUEST_LOST = (call, server) -> SqsAnswer.LOST;

    /** The server executes the request, and the answer never arrives. */
    Trouble ANSWER_LOST = (call, server) -> {
        server.answer(call);
        return SqsAnswer.LOST;
    };

    /** The request arrives twice, and the second arrival is answered. */
    Trouble REPEATED = (call, server) -> {
        server.answer(call);
        return server.answer(call);
    };

    /**
     * A batch is answered with success but not executed, because a server with a copy of each message was not reached.
     */
    Trouble DOES_NOT_STICK = (call, server) ->
            SqsAnswer.ofBatch(call.entries().stream().map(SqsCall::id).toList(), List.of());

    /** The messages of a receive come in another order. */
    Trouble REVERSED = (call, server) -> {
        SqsAnswer answer = server.answer(call);
        List<ObjectNode> messages = new ArrayList<>(answer.messages());
        Collections.reverse(messages);
        return answer.with(messages);
    };

    /** Returns the answer, if there is one. */
    SqsAnswer meet(SqsCall call, SqsBackend server);

    /** The server executes the request; the answer follows when the test permits it. */
    static Trouble held(CompletableFuture<Void> until) {
        return (call, server) -> {
            SqsAnswer answer = server.answer(call);
            until.orTimeout(Duration.ofSeconds(30).toSeconds(), TimeUnit.SECONDS)
                    .join();
            return answer;
        };
    }

    /** The server executes and answers the request; the same request arrives once more when the test permits it. */
    static Trouble repeated(CompletableFuture<Void> when) {
        return (call, server) -> {
            var unused = when.thenRun(() -> server.answer(call));
            return server.answer(call);
        };
    }

    /** The first entries of a batch fail, and the other entries are executed. */
    static Trouble fails(int entries, SqsError error) {
        return (call, server) -> {
            int failing = Math.min(entries, call.entries().size());
            List<ObjectNode> failed = new ArrayList<>();
            call.entries().subList(0, failing).forEach(entry -> failed.add(error.failed(SqsCall.id(entry))));
            List<ObjectNode> others =
                    call.entries().subList(failing, call.entries().size());
            if (others.isEmpty()) {
                return SqsAnswer.ofBatch(List.of(), failed);
            }
            SqsAnswer answer = server.answer(call.with(others));
            failed.addAll(answer.failed());
            return SqsAnswer.ofBatch(
                    others.stream()
                            .map(SqsCall::id)
                            .filter(id -> failed.stream()
                                    .noneMatch(entry -> SqsCall.id(entry).equals(id)))
                            .toList(),
                    failed);
        };
    }

    /** The answer claims this number of receives for each message. */
    static Trouble counted(IntUnaryOperator count) {
        return (call, server) -> {
            SqsAnswer answer = server.answer(call);
            return answer.with(answer.messages().stream()
                    .map(message -> withCount(message, count))
                    .toList());
        };
    }

    private static ObjectNode withCount(ObjectNode message, IntUnaryOperator count) {
        String name = "ApproximateReceiveCount";
        ObjectNode attributes = message.withObjectProperty("Attributes");
        attributes.put(
                name, String.valueOf(count.applyAsInt(attributes.path(name).asInt())));
        return message;
    }
}
