package io.exactlyonce.testing.wire;

import io.exactlyonce.testing.wire.AwsRule.Entry;
import io.exactlyonce.testing.wire.AwsRule.Verdict;
import io.exactlyonce.time.NanoClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Answers as AWS does, with ElasticMQ behind it: {@link AwsRule} for receipt handles, an error for batches without
 * entries, and two attributes of queues that ElasticMQ does not know. All other answers are ElasticMQ's. The rules
 * apply to messages that were received through this proxy.
 */
public final class AwsAnswers implements SqsBackend {

    private static final String VISIBILITY = "VisibilityTimeout";
    private static final String ATTRIBUTE_NAMES = "AttributeNames";

    /** The attributes that AWS reports for a queue that was created without attributes. */
    private static final Map<String, String> ATTRIBUTES =
            Map.of("MessageRetentionPeriod", "345600", "MaximumMessageSize", "1048576");

    private final SqsBackend server;
    private final Receipts receipts;

    /**
     * @param server ElasticMQ, or a proxy in front of it
     * @param clock monotonic, in nanoseconds
     */
    public AwsAnswers(SqsBackend server, NanoClock clock) {
        this.server = server;
        this.receipts = new Receipts(clock);
    }

    @Override
    public SqsAnswer answer(SqsCall call) {
        if (call.isBatch() && call.entries().isEmpty()) {
            return SqsAnswer.refused(SqsError.ofTheSender(
                    "AWS.SimpleQueueService.EmptyBatchRequest", "The batch request doesn't contain any entries."));
        }
        if (call.isDelete() || call.isChange()) {
            return call.isBatch() ? batch(call) : single(call);
        }
        return switch (call.action()) {
            case "ReceiveMessage" -> receive(call);
            case "GetQueueAttributes" -> attributes(call);
            default -> server.answer(call);
        };
    }

    private SqsAnswer receive(SqsCall call) {
        SqsAnswer answer = server.answer(call);
        if (!answer.messages().isEmpty()) {
            JsonNode asked = call.body().path(VISIBILITY);
            Duration hidden = Duration.ofSeconds(asked.isMissingNode() ? windowOf(call) : asked.asInt());
            answer.messages()
                    .forEach(message -> receipts.received(
                            call.queueUrl(),
                            message.path("MessageId").asString(),
                            SqsCall.receiptHandle(message),
                            hidden));
        }
        return answer;
    }

    private int windowOf(SqsCall call) {
        ObjectNode body = JsonNodeFactory.instance.objectNode().put("QueueUrl", call.queueUrl());
        body.putArray(ATTRIBUTE_NAMES).add(VISIBILITY);
        SqsAnswer answer = server.answer(new SqsCall("GetQueueAttributes", call.caller(), body));
        return answer.attribute(VISIBILITY).map(Integer::parseInt).orElse(0);
    }

    private SqsAnswer attributes(SqsCall call) {
        SqsAnswer answer = server.answer(call);
        List<String> asked = call.body()
                .path(ATTRIBUTE_NAMES)
                .valueStream()
                .map(JsonNode::asString)
                .toList();
        if (answer.isOk()) {
            ATTRIBUTES.forEach((name, value) -> {
                if (asked.contains(name) || asked.contains("All")) {
                    answer.addAttribute(name, value);
                }
            });
        }
        return answer;
    }

    private SqsAnswer single(SqsCall call) {
        SqsAnswer answer = batch(call.asBatch());
        if (!answer.isOk()) {
            return answer;
        }
        return answer.failed().stream()
                .findFirst()
                .map(failed -> SqsAnswer.refused(SqsError.of(failed)))
                .orElseGet(() -> SqsAnswer.ok(JsonNodeFactory.instance.objectNode()));
    }

    /** Judges each entry, and forwards the entries that no rule decides. */
    private SqsAnswer batch(SqsCall call) {
        List<ObjectNode> forwarded = new ArrayList<>();
        List<String> successful = new ArrayList<>();
        List<ObjectNode> failed = new ArrayList<>();
        for (ObjectNode entry : call.entries()) {
            Optional<Verdict> verdict = judge(call, entry);
            if (verdict.isEmpty() || verdict.get().isForwarded()) {
                forwarded.add(verdict.isEmpty() ? entry : withNewestHandle(entry));
            } else {
                verdict.get()
                        .refusal()
                        .ifPresentOrElse(
                                error -> failed.add(error.failed(SqsCall.id(entry))),
                                () -> successful.add(SqsCall.id(entry)));
            }
        }
        if (!forwarded.isEmpty()) {
            SqsAnswer answer = server.answer(call.with(forwarded));
            if (!answer.isOk()) {
                return answer;
            }
            forwarded.forEach(entry -> refusal(call, entry, answer)
                    .ifPresentOrElse(
                            error -> failed.add(error.failed(SqsCall.id(entry))),
                            () -> successful.add(SqsCall.id(entry))));
        }
        return SqsAnswer.ofBatch(successful, failed);
    }

    private Optional<Verdict> judge(SqsCall call, ObjectNode entry) {
        int seconds = entry.path(VISIBILITY).asInt(0);
        return receipts.find(SqsCall.receiptHandle(entry))
                .flatMap(receipt -> AwsRule.judge(new Entry(call, seconds, receipt)));
    }

    private ObjectNode withNewestHandle(ObjectNode entry) {
        return receipts.find(SqsCall.receiptHandle(entry))
                .map(receipt -> SqsCall.withReceiptHandle(entry, receipt.newest()))
                .orElse(entry);
    }

    /**
     * Returns the error of a forwarded entry, if it failed. A handle that the server has forgotten belongs to a
     * message that was deleted, or moved to a dead-letter queue.
     */
    private Optional<SqsError> refusal(SqsCall call, ObjectNode entry, SqsAnswer answer) {
        String handle = SqsCall.receiptHandle(entry);
        Optional<SqsError> refusal = answer.failed().stream()
                .filter(each -> SqsCall.id(each).equals(SqsCall.id(entry)))
                .findFirst()
                .map(SqsError::of);
        if (refusal.filter(error -> !error.isOfAHandle()).isPresent()
                || receipts.find(handle).isEmpty()) {
            return refusal;
        }
        if (call.isDelete()) {
            receipts.deleted(handle);
            return Optional.empty();
        }
        if (refusal.isEmpty()) {
            receipts.hidden(handle, Duration.ofSeconds(entry.path(VISIBILITY).asInt(0)));
            return Optional.empty();
        }
        return Verdict.GONE.refusal();
    }
}
