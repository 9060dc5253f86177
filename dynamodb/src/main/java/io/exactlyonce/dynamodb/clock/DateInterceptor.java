package io.exactlyonce.dynamodb.clock;

import io.exactlyonce.time.NanoClock;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttribute;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.retry.ClockSkew;

/** Shows a {@link ServiceClock} the {@code Date} of each answer, also of those that are errors. */
public final class DateInterceptor implements ExecutionInterceptor {

    private static final ExecutionAttribute<Long> SENT = new ExecutionAttribute<>("ExactlyOnceSentNanos");

    private final ServiceClock service;
    private final NanoClock clock;

    /**
     * @param service learns from the answers
     * @param clock the one that it was made with
     */
    public DateInterceptor(ServiceClock service, NanoClock clock) {
        this.service = service;
        this.clock = clock;
    }

    @Override
    public void beforeTransmission(Context.BeforeTransmission context, ExecutionAttributes attributes) {
        attributes.putAttribute(SENT, clock.nanoTime());
    }

    @Override
    public void afterTransmission(Context.AfterTransmission context, ExecutionAttributes attributes) {
        long received = clock.nanoTime();
        Long sent = attributes.getAttribute(SENT);
        if (sent != null) {
            ClockSkew.getServerTime(context.httpResponse())
                    .ifPresent(date -> service.answered(sent, received, date.toEpochMilli()));
        }
    }
}
