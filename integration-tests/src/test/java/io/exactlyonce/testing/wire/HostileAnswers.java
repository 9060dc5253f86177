package io.exactlyonce.testing.wire;

import io.exactlyonce.testing.wire.SqsAnswer.Sending;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import tools.jackson.databind.node.ObjectNode;

/** Answers that AWS does not give, but that a broken proxy or a hostile server may give. */
public final class HostileAnswers {

    private static final int OK = 200;
    private static final int FOUND = 302;
    private static final String MESSAGES = "Messages";

    private HostileAnswers() {}

    /** Each message of a receive is changed. */
    public static Trouble message(Consumer<ObjectNode> change) {
        return messages(messages -> {
            messages.forEach(change);
            return messages;
        });
    }

    /** A system attribute of each message has another text, or is missing if the text is {@code null}. */
    public static Trouble attribute(String name, String value) {
        return message(message -> {
            ObjectNode attributes = message.withObjectProperty("Attributes");
            attributes.remove(name);
            if (value != null) {
                attributes.put(name, value);
            }
        });
    }

    /** A receive has other messages. */
    public static Trouble messages(UnaryOperator<List<ObjectNode>> change) {
        return body(body -> {
            List<ObjectNode> copies = SqsCall.objects(body.path(MESSAGES)).stream()
                    .map(ObjectNode::deepCopy)
                    .toList();
            body.putArray(MESSAGES).addAll(change.apply(new ArrayList<>(copies)));
        });
    }

    /** A receive returns all existing messages, even if fewer were requested. */
    public static Trouble more(SqsBackend behind) {
        return (call, server) -> {
            List<ObjectNode> all = new ArrayList<>(server.answer(call).messages());
            ObjectNode more = call.body().deepCopy();
            more.put("MaxNumberOfMessages", 10).put("WaitTimeSeconds", 0);
            for (int round = 0; round < 3; round++) {
                all.addAll(behind.answer(new SqsCall(call.action(), call.caller(), more))
                        .messages());
            }
            return SqsAnswer.ofReceive(all);
        };
    }

    /** The server executes the request, and the answer is changed. */
    public static Trouble body(Consumer<ObjectNode> change) {
        return (call, server) -> {
            SqsAnswer answer = server.answer(call);
            ObjectNode changed = answer.body().deepCopy();
            change.accept(changed);
            return new SqsAnswer(answer.status(), changed, answer.error());
        };
    }

    /** The request is not executed, and a batch is answered with this body. */
    public static Trouble instead(Consumer<ObjectNode> body) {
        return (call, server) -> {
            SqsAnswer answer = SqsAnswer.ofReceive(List.of());
            answer.body().remove(MESSAGES);
            body.accept(answer.body());
            return answer;
        };
    }

    /** Nothing is done. */
    public static Trouble refused(String code, String message) {
        return (call, server) -> SqsAnswer.refused(new SqsError(code, message, true));
    }

    /** The request is not executed, and the error has a code that no header can contain. */
    public static Trouble refusedWithCode(String code) {
        return (call, server) -> {
            SqsAnswer refused = SqsAnswer.refused(new SqsError(code, "refused", true));
            return new SqsAnswer(refused.status(), refused.body(), "");
        };
    }

    /** The server executes the request, and the answer redirects its caller. */
    public static Trouble redirect(String location) {
        return sent((exchange, text) -> {
            exchange.getResponseHeaders().set("Location", location);
            exchange.sendResponseHeaders(FOUND, -1);
        });
    }

    /**
     * The server executes the request. The answer arrives byte by byte, and each byte arrives before the client's read
     * timeout.
     */
    public static Trouble dripping(Duration between, Duration open) {
        return sent((exchange, text) -> {
            exchange.sendResponseHeaders(OK, Integer.MAX_VALUE);
            long end = System.nanoTime() + open.toNanos();
            for (int sent = 0; System.nanoTime() < end; sent++) {
                exchange.getResponseBody().write(sent < text.length ? text[sent] : ' ');
                exchange.getResponseBody().flush();
                LockSupport.parkNanos(between.toNanos());
            }
        });
    }

    /** The server executes the request. Its answer announces more bytes than it has, and the connection is closed. */
    public static Trouble cutOff() {
        return sent((exchange, text) -> {
            exchange.sendResponseHeaders(OK, text.length + 1000L);
            exchange.getResponseBody().write(text);
            exchange.getResponseBody().flush();
        });
    }

    /** The server executes the request, and the end of its answer never arrives. */
    public static Trouble withoutEnd(Duration open) {
        return sent((exchange, text) -> {
            exchange.sendResponseHeaders(OK, text.length + 1000L);
            exchange.getResponseBody().write(text);
            exchange.getResponseBody().flush();
            LockSupport.parkNanos(open.toNanos());
        });
    }

    /** The server executes the request, and a page of another server answers. */
    public static Trouble page(String html) {
        return sent((exchange, text) -> {
            byte[] page = html.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/html");
            exchange.sendResponseHeaders(OK, page.length);
            exchange.getResponseBody().write(page);
        });
    }

    private static Trouble sent(Sending sending) {
        return (call, server) -> server.answer(call).sentBy(sending);
    }
}
