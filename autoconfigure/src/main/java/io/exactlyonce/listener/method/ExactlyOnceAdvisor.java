package io.exactlyonce.listener.method;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.core.Ordered;

/**
 * Puts the aspect around every {@link ExactlyOnceListener} method, outside of transactions and of nearly everything else:
 * what other advice does must happen under the claim, too.
 */
public final class ExactlyOnceAdvisor extends DefaultPointcutAdvisor {

    /** Position among other advisors; transactions come last by default. */
    public static final int ORDER = Ordered.HIGHEST_PRECEDENCE + 100;

    /**
     * Makes an advisor.
     *
     * @param pipeline takes deliveries to handlers; resolved at the first message
     * @param classProxies whether proxies are subclasses, also of beans with interfaces
     */
    public ExactlyOnceAdvisor(Supplier<DeliveryPipeline> pipeline, BooleanSupplier classProxies) {
        super(new ListenerPointcut(classProxies), new ExactlyOnceInterceptor(pipeline));
        setOrder(ORDER);
    }
}
