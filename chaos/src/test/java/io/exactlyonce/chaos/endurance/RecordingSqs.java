package io.exactlyonce.chaos.endurance;

import io.awspring.cloud.autoconfigure.sqs.SqsAsyncClientCustomizer;
import io.exactlyonce.chaos.history.Detail;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.RecorderClient;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Value;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.sqs.SqsAsyncClientBuilder;
import software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequest;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchResponse;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageResponse;
import tools.jackson.databind.json.JsonMapper;

/**
 * Records the messages that a worker receives and deletes, and counts its requests as they are sent, retries included.
 * The worker writes the counts to a file when it stops.
 */
class RecordingSqs implements SqsAsyncClientCustomizer, ExecutionInterceptor, DisposableBean {

    /** Messages whose visibility timeout was renewed, one by one. */
    static final String RENEWED = "renewed messages";

    private final RecorderClient recorder;
    private final JsonMapper mapper;
    private final Path counts;
    private final int windowSeconds;
    /** Messages by receipt handle. */
    private final Map<String, Message> received = new ConcurrentHashMap<>();

    private final Map<String, LongAdder> requests = new ConcurrentHashMap<>();

    RecordingSqs(
            RecorderClient recorder,
            JsonMapper mapper,
            @Value("${endurance.counts}") Path counts,
            @Value("${endurance.window}") int windowSeconds) {
        this.recorder = recorder;
        this.mapper = mapper;
        this.counts = counts;
        this.windowSeconds = windowSeconds;
    }

    @Override
    public void customize(SqsAsyncClientBuilder builder) {
        builder.overrideConfiguration(builder.overrideConfiguration().toBuilder()
                .addExecutionInterceptor(this)
                .build());
    }

    @Override
    public void beforeExecution(Context.BeforeExecution context, ExecutionAttributes attributes) {
        if (context.request() instanceof DeleteMessageBatchRequest delete) {
            delete.entries().forEach(entry -> record(Kind.ACKNOWLEDGING, entry.receiptHandle()));
        }
    }

    @Override
    public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes attributes) {
        count(context.request().getClass().getSimpleName(), 1);
        if (context.request() instanceof ChangeMessageVisibilityBatchRequest change) {
            count(
                    RENEWED,
                    change.entries().stream()
                            .filter(entry -> entry.visibilityTimeout() == windowSeconds)
                            .count());
        }
    }

    @Override
    public void afterExecution(Context.AfterExecution context, ExecutionAttributes attributes) {
        if (context.response() instanceof ReceiveMessageResponse response) {
            response.messages().forEach(this::received);
        } else if (context.request() instanceof DeleteMessageBatchRequest request
                && context.response() instanceof DeleteMessageBatchResponse response) {
            response.successful()
                    .forEach(deleted -> request.entries().stream()
                            .filter(entry -> entry.id().equals(deleted.id()))
                            .forEach(entry -> record(Kind.ACKNOWLEDGED, entry.receiptHandle())));
        }
    }

    private void received(Message message) {
        received.put(message.receiptHandle(), message);
        recorder.record(event(Kind.RECEIVED, message)
                .with(Detail.RECEIVES, message.attributes().get(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT)));
    }

    private void record(Kind kind, String receiptHandle) {
        recorder.record(event(kind, received.get(receiptHandle)));
    }

    private Event event(Kind kind, Message message) {
        String key = mapper.readValue(message.body(), Job.class).key();
        return Event.of(kind).on(key).with(Detail.MESSAGE, message.messageId());
    }

    private void count(String what, long times) {
        requests.computeIfAbsent(what, name -> new LongAdder()).add(times);
    }

    @Override
    public void destroy() throws IOException {
        Properties properties = new Properties();
        requests.forEach((what, times) -> properties.setProperty(what, times.toString()));
        try (Writer file = Files.newBufferedWriter(counts)) {
            properties.store(file, null);
        }
    }
}
