package io.exactlyonce.observe;

import io.exactlyonce.delivery.Delivery;
import io.exactlyonce.listener.message.ReceivedMessage;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.GlobalObservationConvention;
import io.micrometer.observation.Observation;
import io.micrometer.observation.transport.ReceiverContext;
import java.util.Optional;
import org.springframework.messaging.Message;

/**
 * Renames Spring Cloud AWS's observations to the names of OpenTelemetry's <a
 * href="https://opentelemetry.io/docs/specs/semconv/messaging/messaging-metrics/">semantic conventions for
 * messaging</a>, such as {@code messaging.process.duration}. Only observations of this library's listeners are renamed.
 * If the application has set its own convention in a container's options, that convention is used.
 *
 * <p>OpenTelemetry marks these names as <em>Development</em> and may still change them. So they are not used by
 * default, and this class contains them as literals.
 */
public final class MessagingConvention implements GlobalObservationConvention<ReceiverContext<?>> {

    static final String PROCESS_DURATION = "messaging.process.duration";

    static final String RECEIVE = "receive";
    static final String PROCESS = "process";
    static final String SETTLE = "settle";

    /**
     * Returns those of OpenTelemetry's attributes of a delivery that have low cardinality.
     *
     * @param operation for example {@code process}
     */
    static KeyValues describe(String operation, Delivery delivery) {
        return KeyValues.of(
                KeyValue.of("messaging.system", "aws_sqs"),
                KeyValue.of("messaging.operation.type", operation),
                KeyValue.of("messaging.operation.name", operation),
                KeyValue.of(
                        "messaging.destination.name", delivery.subscription().queue()));
    }

    /** Returns the delivery whose message is observed. Empty if no listener of this library received the message. */
    private static Optional<Delivery> find(Observation.Context context) {
        return context instanceof ReceiverContext<?> received && received.getCarrier() instanceof Message<?> message
                ? ReceivedMessage.of(message).map(ReceivedMessage::delivery)
                : Optional.empty();
    }

    private static Delivery delivery(ReceiverContext<?> context) {
        return find(context).orElseThrow();
    }

    @Override
    public boolean supportsContext(Observation.Context context) {
        return find(context).isPresent();
    }

    @Override
    public String getName() {
        return PROCESS_DURATION;
    }

    @Override
    public String getContextualName(ReceiverContext<?> context) {
        return "process " + delivery(context).subscription().queue();
    }

    /**
     * Returns the tags of the timer. {@code error.type} is also present without an error, because Prometheus requires
     * the same tags on all meters of one name.
     */
    @Override
    public KeyValues getLowCardinalityKeyValues(ReceiverContext<?> context) {
        Throwable error = context.getError();
        return describe(PROCESS, delivery(context))
                .and(
                        "error.type",
                        error == null ? KeyValue.NONE_VALUE : error.getClass().getName());
    }

    @Override
    public KeyValues getHighCardinalityKeyValues(ReceiverContext<?> context) {
        return KeyValues.of("messaging.message.id", delivery(context).messageId());
    }
}
