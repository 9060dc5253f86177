package io.exactlyonce.listener.method;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.delivery.MethodCalls;
import io.exactlyonce.delivery.pipeline.DeliveryPipeline;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.DefaultAdvisorChainFactory;
import org.springframework.aop.framework.ReflectiveMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryAware;
import org.springframework.beans.factory.ObjectFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * Adds the three steps of a {@link ListenerInvocation} to each {@link ExactlyOnceListener} method that claims keys. This
 * advisor itself is the second step. Spring adds it to the bean's proxy, before transactions and nearly all other advice.
 * When Spring Cloud AWS reads the listener, {@link #enclose} adds the first step before all advice of the bean. The first
 * step replaces Spring's call object by a {@link ListenerCall}, whose end is the third step.
 */
public final class ExactlyOnceAdvisor extends StaticMethodMatcherPointcutAdvisor implements BeanFactoryAware {

    /**
     * The position of the second step among other advice. By default, transactions come later, so they begin inside of
     * this step.
     */
    public static final int ORDER = Ordered.HIGHEST_PRECEDENCE + 100;

    private final transient ObjectFactory<DeliveryPipeline> pipeline;
    private final transient ListenerModes modes;
    private transient @Nullable BeanFactory beans;

    /**
     * @param pipeline passes deliveries to handlers; created at the first message
     * @param modes the modes of listeners; observed listeners get no steps
     */
    public ExactlyOnceAdvisor(ObjectFactory<DeliveryPipeline> pipeline, ListenerModes modes) {
        this.pipeline = pipeline;
        this.modes = modes;
        setAdvice((MethodInterceptor) call -> {
            ListenerInvocation invocation = ListenerInvocation.of(call);
            return invocation == null ? DirectCall.make(call) : answer(invocation.claim(call), call);
        });
        setClassFilter(type -> AnnotationUtils.isCandidateClass(type, ExactlyOnceListener.class));
        setOrder(ORDER);
    }

    /**
     * Replaces {@code null} by zero or false if the method's return type is primitive. A proxy cannot return {@code
     * null} for such a type.
     */
    private static @Nullable Object answer(@Nullable Object answer, MethodInvocation call) {
        Class<?> type = call.getMethod().getReturnType();
        return answer == null && type.isPrimitive() && type != void.class
                ? Array.get(Array.newInstance(type, 1), 0)
                : answer;
    }

    @Override
    public void setBeanFactory(BeanFactory beans) {
        this.beans = beans;
    }

    /**
     * Adds the first step before all advice of each of the bean's proxies. Does nothing if it is there already.
     *
     * <p>In inner proxies, the first step only makes the invocation known to later steps, which may run on another
     * thread.
     */
    void enclose(ListenerProxies proxies) {
        for (Advised proxy : proxies.all()) {
            if (Arrays.stream(proxy.getAdvisors()).noneMatch(advisor -> advisor.getAdvice() instanceof FirstStep)) {
                proxy.addAdvisor(0, new DefaultPointcutAdvisor(this, new FirstStep(proxy)));
            }
        }
    }

    /** Returns whether a class has an {@link ExactlyOnceListener}. */
    public static boolean isListener(Class<?> type) {
        return AnnotationUtils.isCandidateClass(type, ExactlyOnceListener.class)
                && (AnnotatedElementUtils.hasAnnotation(type, ExactlyOnceListener.class)
                        || !MethodIntrospector.selectMethods(type, (MethodFilter) ListenerDeclaration::isAnnotated)
                                .isEmpty());
    }

    /**
     * Returns whether a method is a listener that claims keys. Spring calls this method before it creates the bean's
     * proxy. Some invalid listeners are rejected here, because Spring would fail later with an error that does not name
     * the listener.
     */
    @Override
    public boolean matches(Method method, Class<?> type) {
        // Spring may pass the method of an interface, but the annotation may be on the method of the class.
        ListenerDeclaration declared = ListenerDeclaration.find(type, AopUtils.getMostSpecificMethod(method, type));
        if (declared == null || modes.isObserved(declared)) {
            return false;
        }
        ListenerRules.requireProxyable(declared, type);
        ListenerProxies.requireOthersFit(declared, type, modes);
        declared.refuseIf(declared.seen().value().length == 0, "it names no queue", "set queueNames");
        if (beans != null) {
            ListenerProxies.extendClass(beans);
        }
        return true;
    }

    /** Begins the invocation, and calls a proxy's other advice with a {@link ListenerCall}. */
    private final class FirstStep implements MethodInterceptor {

        /** Equal advisors may have different advice. */
        private static final Comparator<Advisor> BY_IDENTITY = (one, other) -> one == other ? 0 : 1;

        private final Advised proxy;
        private final Map<Method, Chain> chains = new ConcurrentHashMap<>();

        FirstStep(Advised proxy) {
            this.proxy = proxy;
        }

        @Override
        public @Nullable Object invoke(MethodInvocation original) throws Throwable {
            ListenerInvocation invocation = ListenerInvocation.of(original);
            if (invocation == null) {
                return DirectCall.make(original);
            }
            ListenerCall call = new ListenerCall(invocation, (ProxyMethodInvocation) original, behind(original));
            return invocation.hasReachedAdvice()
                    ? call.proceed()
                    : answer(invocation.begin(call, pipeline.getObject()), call);
        }

        /** Returns the advice behind this step. An application may add advice to its proxy at any time. */
        private List<Object> behind(MethodInvocation call) {
            Advisor[] advisors = proxy.getAdvisors();
            Chain chain = chains.get(call.getMethod());
            if (chain == null || !Arrays.equals(chain.advisors, advisors, BY_IDENTITY)) {
                List<Object> all = DefaultAdvisorChainFactory.INSTANCE.getInterceptorsAndDynamicInterceptionAdvice(
                        proxy, call.getMethod(), targetClass(call));
                chain = new Chain(advisors, List.copyOf(all.subList(all.indexOf(this) + 1, all.size())));
                chains.put(call.getMethod(), chain);
            }
            return chain.behind;
        }
    }

    /** The advice around a method, behind the first step of a proxy that has these advisors. */
    private static final class Chain {

        private final Advisor[] advisors;
        private final List<Object> behind;

        Chain(Advisor[] advisors, List<Object> behind) {
            this.advisors = advisors;
            this.behind = behind;
        }
    }

    /**
     * A call of a listener's method through the advice of one proxy. When all advice has proceeded, the third step
     * follows, instead of the method itself. The third step could not be advice: if advice proceeds more than once with
     * the same call object, Spring skips the advice that it has already called. Clones of this call are such calls, too.
     */
    static final class ListenerCall extends ReflectiveMethodInvocation {

        private final ListenerInvocation invocation;

        private ListenerCall(ListenerInvocation invocation, ProxyMethodInvocation call, List<Object> advice) {
            super(call.getProxy(), call.getThis(), call.getMethod(), call.getArguments(), targetClass(call), advice);
            this.invocation = invocation;
        }

        ListenerInvocation invocation() {
            return invocation;
        }

        @Override
        public @Nullable Object proceed() throws Throwable {
            MethodCalls calls = invocation.calls();
            return calls.isElsewhere() ? calls.elsewhere(super::proceed) : super.proceed();
        }

        @Override
        protected @Nullable Object invokeJoinpoint() throws Throwable {
            return invocation.call(this);
        }
    }

    private static Class<?> targetClass(MethodInvocation call) {
        return Objects.requireNonNull(call.getThis()).getClass();
    }
}
