package io.exactlyonce.test.kit;

import io.awspring.cloud.sqs.annotation.SqsHandler;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.listener.method.ExactlyOnceAdvisor;
import java.util.List;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Pointcut;
import org.springframework.aop.support.ComposablePointcut;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Simulates a message's faults before its handler, directly inside the aspect that claims keys. Each fault happens
 * once, so a retry does not meet it again.
 */
final class FaultAdvisor extends DefaultPointcutAdvisor {

    private static final long serialVersionUID = 1;

    FaultAdvisor(ObjectProvider<Journal> journal, ObjectProvider<ExactlyOnceDriver> driver) {
        super(listeners(), new Faults(journal, driver));
        setOrder(ExactlyOnceAdvisor.ORDER + 1);
    }

    private static Pointcut listeners() {
        return new ComposablePointcut((Pointcut) new AnnotationMatchingPointcut(null, ExactlyOnceListener.class, true))
                .union((Pointcut) new AnnotationMatchingPointcut(ExactlyOnceListener.class, SqsHandler.class, true));
    }

    private record Faults(ObjectProvider<Journal> journal, ObjectProvider<ExactlyOnceDriver> driver)
            implements MethodInterceptor {

        @Override
        public @Nullable Object invoke(MethodInvocation handler) throws Throwable {
            List<Delivered> called = journal.getObject().current();
            if (called.stream().anyMatch(delivered -> delivered.crashesAt(CrashPoint.BEFORE_HANDLER))) {
                driver.getObject().crash();
            }
            called.stream()
                    .filter(Delivered::losesItsClaim)
                    .filter(delivered ->
                            delivered.delivery().orElseThrow().visibility().isHeld())
                    .forEach(delivered -> driver.getObject().loseClaim(delivered));
            return handler.proceed();
        }
    }
}
