package io.exactlyonce.listener.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.Effects;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.claim.ClaimTransaction;
import io.exactlyonce.claim.UnsupportedTransactionException;
import io.exactlyonce.delivery.TestResults;
import java.util.ArrayList;
import java.util.List;
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
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.AnnotationTransactionAttributeSource;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.SimpleTransactionStatus;

/** Which handlers may write in the transaction of their claim. */
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

        @Transactional(propagation = Propagation.NOT_SUPPORTED)
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void notSupported(String order) {}

        @Transactional(propagation = Propagation.NEVER)
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void never(String order) {}

        @Transactional(isolation = Isolation.SERIALIZABLE)
        @ExactlyOnceListener(queueNames = "orders", effects = Effects.DATABASE)
        void serializable(String order) {}

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

    private static final class Manager implements PlatformTransactionManager {
        @Override
        public TransactionStatus getTransaction(TransactionDefinition definition) {
            return new SimpleTransactionStatus();
        }

        @Override
        public void commit(TransactionStatus status) {}

        @Override
        public void rollback(TransactionStatus status) {}
    }

    private final Manager first = new Manager();
    private final Manager second = new Manager();
    private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
    private final List<String> created = new ArrayList<>();

    {
        beans.registerSingleton(ExactlyOnceListener.CONTAINER_FACTORY, new ListenerRig.PreparingFactory());
    }

    private final ClaimTransaction transaction = (request, work) -> {
        throw new AssertionError("no message came");
    };

    private ListenerMethod read(String method) {
        return read(method, false);
    }

    private ListenerMethod read(String method, boolean transactionOutside) {
        ProxyFactory proxies = new ProxyFactory(new Listeners());
        proxies.setProxyTargetClass(true);
        var claiming = new ExactlyOnceAdvisor(TransactionAdviceTests::noMessage, ListenerRig.ENFORCED);
        var transactional = new DefaultPointcutAdvisor(new TransactionInterceptor(
                (TransactionManager) first, new AnnotationTransactionAttributeSource(false)));
        proxies.addAdvisors(
                transactionOutside ? transactional : claiming, transactionOutside ? claiming : transactional);
        return ListenerRig.read(reader(this::create), proxies.getProxy(), Listeners.class, method);
    }

    private ListenerMethodReader reader(ClaimTransaction.Factory transactions) {
        return new ListenerMethodReader(
                beans, ListenerRig.PreparingFactory.class, ListenerRig.ENFORCED, TestResults.NONE, transactions);
    }

    private static <T> T noMessage() {
        throw new AssertionError("no message came");
    }

    private ClaimTransaction create(PlatformTransactionManager manager, boolean named) {
        created.add((manager == first ? "first" : "second") + (named ? " named" : ""));
        return transaction;
    }

    private void onlyFirst() {
        beans.registerSingleton("first", first);
    }

    private void both() {
        onlyFirst();
        beans.registerSingleton("second", second);
        beans.registerSingleton("noManager", "text");
    }

    @ParameterizedTest
    @ValueSource(strings = {"plain", "required", "mandatory"})
    void handlerThatJoinsTheOnlyManagersTransactionIsTaken(String method) {
        onlyFirst();

        read(method);

        assertThat(created).containsExactly("first");
    }

    @Test
    void namedManagerIsTakenAmongSeveral() {
        both();

        read("sameManager");
        read("named");

        assertThat(created).containsExactly("first named", "second named");
    }

    @ParameterizedTest
    @CsvSource({
        "requiresNew, propagation REQUIRES_NEW leaves the transaction, use propagation REQUIRED",
        "notSupported, propagation NOT_SUPPORTED leaves the transaction, use propagation REQUIRED",
        "never, propagation NEVER leaves the transaction, use propagation REQUIRED",
        "serializable, cannot be applied any more, set the isolation level on the DataSource",
        "readOnly, cannot be applied any more, leave them out",
    })
    void handlerThatWouldNotWriteInItsClaimsTransactionIsRefused(String method, String problem, String remedy) {
        onlyFirst();

        assertRefused(method, problem, remedy);
        assertThat(created).isEmpty();
    }

    @Test
    void managerOfTheHandlerThatIsNotTheClaimsIsRefused() {
        both();

        assertRefused("otherManager", "its transaction manager 'second' is not the one of the claim", "the same one: ");
    }

    @Test
    void severalManagersWithoutAPrimaryAreRefused() {
        both();

        assertRefused("plain", "expected single matching bean but found 2: first,second", "name the one");
    }

    @Test
    void noManagerAtAllIsRefused() {
        assertRefused(
                "plain",
                "needs a bean of type org.springframework.transaction.PlatformTransactionManager: No qualifying bean",
                "declare a JdbcTransactionManager");
    }

    @ParameterizedTest
    @CsvSource({"missingManager, third", "wrongType, noManager"})
    void managerThatDoesNotExistIsRefused(String method, String name) {
        both();

        assertRefused(method, "effects = DATABASE needs a bean of type", "declare a JdbcTransactionManager");
        assertThatThrownBy(() -> read(method)).hasMessageContaining("named '" + name + "'");
    }

    @Test
    void managerThatCannotHoldClaimsIsRefusedWithTheReason() {
        onlyFirst();
        ListenerMethodReader unusable = reader((manager, named) -> {
            throw new UnsupportedTransactionException("it is another database", "use this one", null);
        });

        assertThatThrownBy(() ->
                        ListenerRig.read(unusable, ListenerRig.advised(new Listeners()), Listeners.class, "plain"))
                .isInstanceOfSatisfying(InvalidListenerException.class, refused -> {
                    assertThat(refused.problem()).contains("Listeners.plain", "it is another database");
                    assertThat(refused.remedy()).isEqualTo("use this one");
                });
    }

    @Test
    void externalEffectsTakeNoManager() {
        onlyFirst();

        assertRefused("externalWithManager", "\"first\" has no meaning with effects = EXTERNAL", "leave it out");
    }

    @Test
    void externalEffectsMayHaveTransactionsOfTheirOwn() {
        read("externalRequiresNew");

        assertThat(created).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"required", "externalRequiresNew"})
    void transactionThatWouldBeginBeforeTheClaimIsRefused(String method) {
        onlyFirst();

        assertThatThrownBy(() -> read(method, true))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("is begun before its key is claimed")
                .hasMessageContaining("order above " + ExactlyOnceAdvisor.ORDER);
    }

    private void assertRefused(String method, String problem, String remedy) {
        assertThatThrownBy(() -> read(method)).isInstanceOfSatisfying(InvalidListenerException.class, refused -> {
            assertThat(refused.problem()).contains("Listeners." + method, problem);
            assertThat(refused.remedy()).contains(remedy);
        });
    }
}
