package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.authorization.method.AuthorizationManagerBeforeMethodInterceptor;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.security.core.context.SecurityContextImpl;

/** Handlers with the advice of Spring Security. */
@UsesSqs
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class EverydayAdviceIT {

    private static final SqsServer SQS = SqsServer.shared();
    private static final List<String> CALLS = new CopyOnWriteArrayList<>();
    private static final AtomicInteger DENIALS = new AtomicInteger();
    private static volatile String[] authorities = {"orders"};

    static class Secured {
        @PreAuthorize("hasAuthority('orders')")
        @ExactlyOnceListener(queueNames = "${test.permitted}", key = "#order")
        public void permitted(String order) {
            CALLS.add("permitted");
        }

        @PreAuthorize("hasAuthority('refunds')")
        @ExactlyOnceListener(queueNames = "${test.denied}", key = "#order")
        public void denied(String order) {
            CALLS.add("denied");
        }

        @PreAuthorize("hasAuthority('refunds')")
        @ExactlyOnceListener(queueNames = "${test.deniedWithin}", key = "#order", effects = Effects.DATABASE)
        public void deniedWithin(String order) {
            CALLS.add("deniedWithin");
        }
    }

    /** Authenticates the handler's thread for a call. */
    private static @Nullable Object authenticated(MethodInvocation call) throws Throwable {
        SecurityContextHolder.setContext(
                new SecurityContextImpl(new TestingAuthenticationToken("worker", "none", authorities)));
        try {
            return call.proceed();
        } catch (AccessDeniedException denied) {
            DENIALS.incrementAndGet();
            throw denied;
        } finally {
            SecurityContextHolder.clearContext();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Advice {

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor authentication() {
            DefaultPointcutAdvisor advisor = new DefaultPointcutAdvisor(
                    AnnotationMatchingPointcut.forMethodAnnotation(PreAuthorize.class),
                    (MethodInterceptor) EverydayAdviceIT::authenticated);
            advisor.setOrder(0);
            return advisor;
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor preAuthorize() {
            return AuthorizationManagerBeforeMethodInterceptor.preAuthorize();
        }
    }

    private TestApplication application;

    @BeforeAll
    void start() {
        application = TestApplication.onQueues(
                List.of("permitted", "denied", "deniedWithin"), Map.of(), Secured.class, Advice.class);
    }

    @AfterAll
    void stop() {
        application.close();
    }

    @Test
    void handlerThatIsPermittedIsCalledOnce() {
        CALLS.clear();

        application.handleTwice("permitted", "o1");

        assertThat(CALLS).containsExactly("permitted");
    }

    @ParameterizedTest
    @ValueSource(strings = {"denied", "deniedWithin"})
    void messageWhoseHandlerIsDeniedIsHandledOnceAfterItIsPermitted(String queue) {
        CALLS.clear();
        authorities = new String[] {"orders"};
        int denials = DENIALS.get();
        SQS.send(application.queue(queue), "o1");
        await().until(() -> DENIALS.get() > denials);
        assertThat(CALLS).isEmpty();

        authorities = new String[] {"orders", "refunds"};
        SQS.awaitEmpty(application.queue(queue));

        assertThat(CALLS).containsExactly(queue);
    }
}
