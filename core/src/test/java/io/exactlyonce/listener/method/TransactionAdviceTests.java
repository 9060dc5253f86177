package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.mock;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.claim.transaction.UnsupportedTransactionException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAttribute;
import org.springframework.transaction.interceptor.TransactionInterceptor;

/**
 * Tests handlers with their own {@code @Transactional}. Startup fails if the annotation does not fit the transaction of
 * the claim.
 */
class TransactionAdviceTests {

    static class Listeners {

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void plain(String order) {}

        @Transactional
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void required(String order) {}

        @Transactional(propagation = Propagation.MANDATORY)
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void mandatory(String order) {}

        @Transactional("first")
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE, transactionManager = "first")
        void sameManager(String order) {}

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE, transactionManager = "second")
        void named(String order) {}

        @Transactional(propagation = Propagation.REQUIRES_NEW)
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void requiresNew(String order) {}

        @Transactional(isolation = Isolation.SERIALIZABLE, timeout = 7, label = "slow")
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void serializable(String order) {}

        @Transactional(timeoutString = "${shop.timeout}")
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void placeholder(String order) {}

        @Impatient
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void meta(String order) {}

        @Transactional(timeout = 0)
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void noTime(String order) {}

        @Transactional(noRollbackFor = IllegalStateException.class)
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void noRollback(String order) {}

        @Transactional(noRollbackForClassName = "NoStock")
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void noRollbackByName(String order) {}

        @Transactional
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE, transactionManager = "second")
        void ofTheDefaultManager(String order) {}

        @Transactional(readOnly = true)
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void readOnly(String order) {}

        @Transactional("second")
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE, transactionManager = "first")
        void otherManager(String order) {}

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE, transactionManager = "third")
        void missingManager(String order) {}

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE, transactionManager = "noManager")
        void wrongType(String order) {}

        @Transactional(propagation = Propagation.REQUIRES_NEW)
        @ExactlyOnceListener(queueNames = "orders")
        void externalRequiresNew(String order) {}

        @ExactlyOnceListener(queueNames = "orders", transactionManager = "first")
        void externalWithManager(String order) {}
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @Transactional(timeout = 5)
    @interface Impatient {}

    @Transactional(timeout = 3)
    static class Hurried {

        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void handle(String order) {}
    }

    private final PlatformTransactionManager first = mock();
    private final PlatformTransactionManager second = mock();
    private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
    private final List<String> created = new ArrayList<>();
    private final List<TransactionAttribute> transactions = new ArrayList<>();

    private final ClaimTransaction transaction = (request, work) -> {
        throw new AssertionError("no message came");
    };

    private ListenerMethod read(String method) {
        return read(method, false);
    }

    private ListenerMethod read(String method, boolean transactionOutside) {
        return read(new Listeners(), method, transactionOutside, first);
    }

    /** @param manager the transaction manager of the advice, or {@code null} for the application's default */
    private ListenerMethod read(
            Object listener, String method, boolean transactionOutside, @Nullable TransactionManager manager) {
        ProxyFactory proxies = new ProxyFactory(listener);
        proxies.setProxyTargetClass(true);
        var claiming = ListenerRig.advisor();
        var source = new AnnotationTransactionAttributeSource(false);
        source.setEmbeddedValueResolver(text -> text.replace("${shop.timeout}", "9"));
        var interceptor = new TransactionInterceptor();
        interceptor.setTransactionManager(manager);
        interceptor.setTransactionAttributeSource(source);
        var transactional = new DefaultPointcutAdvisor(interceptor);
        proxies.addAdvisors(
                transactionOutside ? transactional : claiming, transactionOutside ? claiming : transactional);
        return ListenerRig.read(reader(this::create), proxies.getProxy(), listener.getClass(), method);
    }

    private ListenerMethodReader reader(ClaimTransaction.Factory transactions) {
        return new ListenerMethodReader(beans, ListenerRig.ENFORCED, transactions);
    }

    private ClaimTransaction create(PlatformTransactionManager manager, TransactionAttribute own, boolean named) {
        transactions.add(own);
        created.add((manager == first ? "first" : "second") + (named ? " named" : ""));
        return transaction;
    }

    /** @param managers the names of the transaction managers that the application has */
    private void managers(String managers) {
        if (managers.contains("first")) {
            beans.registerSingleton("first", first);
        }
        if (managers.contains("second")) {
            beans.registerSingleton("second", second);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "required", "mandatory"})
    void handlerThatJoinsTheOnlyManagersTransactionIsTaken(String method) {
        managers("first");

        read(method);

        assertThat(created).containsExactly("first");
    }

    @Test
    void namedManagerIsTakenAmongSeveral() {
        managers("first second");

        read("sameManager");
        read("named");

        assertThat(created).containsExactly("first named", "second named");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            first        | requiresNew  | propagation REQUIRES_NEW leaves the transaction | use propagation REQUIRED
            first        | readOnly     | readOnly refuses the claim's own writes | leave readOnly out
            first        | noTime       | timeout of 0 s is over before its key is claimed | set at least 1
            first        | noRollback   | noRollbackFor (java.lang.IllegalStateException) would be ignored | catch
            first        | noRollbackByName | noRollbackFor (NoStock) would be ignored | propagation = REQUIRES_NEW
            first second | otherManager | its transaction manager 'second' is not the one of the claim | the same one:
            first second | plain        | expected single matching bean but found 2: first,second | name the one
            none         | plain        | needs a bean of type org.springframework.transaction.PlatformTransactionManager | declare a
            first        | missingManager      | named 'third'     | declare a JdbcTransactionManager
            first        | wrongType           | named 'noManager' | declare a JdbcTransactionManager
            first        | externalWithManager | "first" has no meaning with effects = EXTERNAL | leave it out
            """)
    void handlerWithoutItsClaimsTransactionIsRefused(String managers, String method, String problem, String remedy) {
        managers(managers);
        beans.registerSingleton("noManager", "text");

        assertThatThrownBy(() -> read(method)).isInstanceOfSatisfying(InvalidListenerException.class, refused -> {
            assertThat(refused.getMessage()).contains("Listeners." + method, problem);
            assertThat(refused.remedy()).contains(remedy);
        });
        assertThat(created).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"serializable, 7", "placeholder, 9", "meta, 5", "required, -1"})
    void transactionOfTheClaimBeginsAsTheHandlersOwnWould(String method, int timeout) {
        managers("first");

        read(method);

        assertThat(transactions).singleElement().satisfies(own -> {
            assertThat(own.getTimeout()).isEqualTo(timeout);
            assertThat(own.getIsolationLevel())
                    .isEqualTo(
                            method.equals("serializable")
                                    ? TransactionDefinition.ISOLATION_SERIALIZABLE
                                    : TransactionDefinition.ISOLATION_DEFAULT);
            assertThat(own.getLabels()).hasSize(method.equals("serializable") ? 1 : 0);
        });
    }

    @Test
    void transactionOfTheClaimBeginsAsTheHandlersClassConfigures() {
        managers("first");

        read(new Hurried(), "handle", false, first);

        assertThat(transactions).extracting(TransactionDefinition::getTimeout).containsExactly(3);
    }

    /**
     * Another manager would commit the handler's writes separately from the claim. Without a default manager, each
     * message would fail.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void transactionOfAnotherManagerThatIsTheDefaultIsRefused(boolean hasDefault) {
        managers("first second");

        assertThatThrownBy(() -> read(new Listeners(), "ofTheDefaultManager", false, hasDefault ? first : null))
                .isInstanceOfSatisfying(InvalidListenerException.class, refused -> {
                    assertThat(refused.problem()).contains("names no transaction manager");
                    assertThat(refused.remedy()).contains("@Transactional(\"second\")");
                });
    }

    @Test
    void transactionWithoutAManagerIsTakenIfTheListenersIsTheDefault() {
        managers("first second");

        read(new Listeners(), "ofTheDefaultManager", false, second);

        assertThat(created).containsExactly("second named");
    }

    @Test
    void managerThatCannotHoldClaimsIsRefusedWithTheReason() {
        managers("first");
        ListenerMethodReader unusable = reader((manager, own, named) -> {
            throw new UnsupportedTransactionException("it is another database", "use this one", null);
        });

        assertThatThrownBy(() ->
                        ListenerRig.read(unusable, ListenerRig.advised(new Listeners()), Listeners.class, "plain"))
                .isInstanceOfSatisfying(InvalidListenerException.class, refused -> {
                    assertThat(refused.problem()).contains("Listeners.plain", "it is another database");
                    assertThat(refused.remedy()).isEqualTo("use this one");
                });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void externalEffectsMayHaveTransactionsOfTheirOwn(boolean transactionOutside) {
        read("externalRequiresNew", transactionOutside);

        assertThat(created).isEmpty();
    }

    @Test
    void transactionThatWouldBeginBeforeThatOfTheClaimIsRefused() {
        managers("first");

        assertThatThrownBy(() -> read("required", true))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("is begun before its key is claimed")
                .hasMessageContaining("order above " + ExactlyOnceAdvisor.ORDER);
    }
}
