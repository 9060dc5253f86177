package io.exactlyonce.chaos.queue;

import io.exactlyonce.chaos.cluster.SqsTraffic;
import io.exactlyonce.chaos.history.Detail;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.Recorder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Records the messages that workers receive, delete and return, as the wire to SQS passes them. */
public final class SqsHistory implements SqsTraffic {

    private static final JsonMapper JSON = JsonMapper.shared();

    private final Recorder recorder;
    private final Acknowledgements acknowledgements;
    private final QueueDisorder disorder;
    private final Map<String, String> keys = new ConcurrentHashMap<>();
    private final AtomicLong deliveries = new AtomicLong();

    public SqsHistory(Recorder recorder, Acknowledgements acknowledgements, QueueDisorder disorder) {
        this.recorder = recorder;
        this.acknowledgements = acknowledgements;
        this.disorder = disorder;
    }

    /** Returns the number of messages that workers received. */
    public long deliveries() {
        return deliveries.get();
    }

    @Override
    public void requested(Request request) {
        if (request.action().startsWith("DeleteMessage")) {
            List<String> asked = keysOf(JSON.readTree(request.body()));
            acknowledgements.about(request.worker(), asked);
            asked.forEach(key -> recorder.record(
                    Event.of(Kind.ACKNOWLEDGING).by(request.worker()).on(key)));
        }
    }

    @Override
    public String replied(Request request, int status, String body) {
        if (status != 200) {
            return body;
        }
        if (request.action().equals("ReceiveMessage")) {
            return received(request, body);
        }
        if (request.action().startsWith("DeleteMessage")) {
            String answer = Deletes.asOnAws(body);
            confirmed(request, answer);
            return answer;
        }
        if (request.action().startsWith("ChangeMessageVisibility")) {
            returned(request);
        }
        return body;
    }

    private String received(Request request, String body) {
        JsonNode reply = JSON.readTree(body);
        if (!(reply.get("Messages") instanceof ArrayNode messages)) {
            return body;
        }
        JsonNode asked = JSON.readTree(request.body());
        ArrayNode given = disorder.disturb(
                asked.path("QueueUrl").asString(),
                messages,
                asked.path("MaxNumberOfMessages").asInt(1));
        for (JsonNode message : given) {
            String key = Keys.of(message.path("Body").asString());
            keys.put(message.path("ReceiptHandle").asString(), key);
            deliveries.incrementAndGet();
            recorder.record(Event.of(Kind.RECEIVED)
                    .by(request.worker())
                    .on(key)
                    .with(Detail.MESSAGE, message.path("MessageId").asString())
                    .with(
                            Detail.RECEIVES,
                            message.path("Attributes")
                                    .path("ApproximateReceiveCount")
                                    .asString("1")));
        }
        ((ObjectNode) reply).set("Messages", given);
        return JSON.writeValueAsString(reply);
    }

    private void confirmed(Request request, String body) {
        JsonNode asked = JSON.readTree(request.body());
        if (request.action().equals("DeleteMessage")) {
            acknowledged(request.worker(), asked.path("ReceiptHandle").asString());
            return;
        }
        JsonNode successful = JSON.readTree(body).path("Successful");
        for (JsonNode entry : asked.path("Entries")) {
            for (JsonNode success : successful) {
                if (success.path("Id").equals(entry.path("Id"))) {
                    acknowledged(request.worker(), entry.path("ReceiptHandle").asString());
                }
            }
        }
    }

    private void acknowledged(String worker, String handle) {
        @Nullable String key = keys.get(handle);
        if (key != null) {
            recorder.record(Event.of(Kind.ACKNOWLEDGED).by(worker).on(key));
        }
    }

    private void returned(Request request) {
        JsonNode asked = JSON.readTree(request.body());
        Iterable<JsonNode> entries = asked.has("Entries") ? asked.path("Entries") : List.of(asked);
        for (JsonNode entry : entries) {
            @Nullable String key = keys.get(entry.path("ReceiptHandle").asString());
            if (key != null && entry.path("VisibilityTimeout").asInt(1) == 0) {
                recorder.record(Event.of(Kind.RETURNED).by(request.worker()).on(key));
            }
        }
    }

    private List<String> keysOf(JsonNode asked) {
        List<String> found = new ArrayList<>();
        Iterable<JsonNode> entries = asked.has("Entries") ? asked.path("Entries") : List.of(asked);
        for (JsonNode entry : entries) {
            @Nullable String key = keys.get(entry.path("ReceiptHandle").asString());
            if (key != null) {
                found.add(key);
            }
        }
        return found;
    }
}
