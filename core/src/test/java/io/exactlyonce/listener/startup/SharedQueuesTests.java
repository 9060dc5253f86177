package io.exactlyonce.listener.startup;

import static io.exactlyonce.Effects.DATABASE;
import static io.exactlyonce.InDoubtPolicy.PARK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.exactlyonce.CapturedOutput;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.OutputCaptureExtension;
import io.exactlyonce.listener.FakeReceives;
import io.exactlyonce.listener.method.InvalidListenerException;
import io.exactlyonce.listener.method.ListenerMethod;
import io.exactlyonce.listener.method.ListenerRig;
import io.exactlyonce.queue.QueueAttributes;
import io.exactlyonce.queue.SqsQueue;
import io.exactlyonce.queue.Subscription;
import io.exactlyonce.queue.VisibilityWindow;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.support.GenericApplicationContext;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

@ExtendWith(OutputCaptureExtension.class)
class SharedQueuesTests {

    static class Sharing {

        @ExactlyOnceListener("${queue}")
        void unscoped(String order) {}

        @ExactlyOnceListener(queueNames = "${queue}", scope = "orders")
        void orders(String order) {}

        @ExactlyOnceListener(queueNames = "${queue}", scope = "fulfilment")
        void usual(String order) {}

        @ExactlyOnceListener(queueNames = "${queue}", scope = "fulfilment", whenInDoubt = PARK)
        void careful(String order) {}

        @ExactlyOnceListener(queueNames = "${queue}", scope = "fulfilment", effects = DATABASE)
        void transactional(String order) {}
    }

    private static final String EU = "https://sqs.eu-central-1.amazonaws.com/123456789012/orders";
    private static final String US = "https://sqs.us-east-1.amazonaws.com/123456789012/orders";
    private static final String OTHER_ACCOUNT = "https://sqs.eu-central-1.amazonaws.com/210987654321/orders";

    private final ListenerRegistry listeners = new ListenerRegistry();
    private final SharedQueues queues = new SharedQueues(listeners);

    private static ListenerMethod enforced(String name) {
        return ListenerRig.settings(new Sharing(), name).listener();
    }

    /** Returns an observed listener method, which needs neither a proxy nor a transaction manager. */
    private static ListenerMethod observed(String name) {
        return ListenerRig.observed(new Sharing(), name).listener();
    }

    /** Registers a queue's URL, as a container does when its client has found the queue. */
    private void start(String listener, String url) {
        String region = url.contains("us-east-1") ? "us-east-1" : "eu-central-1";
        String[] path = url.split("/", -1);
        SqsQueue queue = new SqsQueue(new FakeReceives(), url, VisibilityWindow.ofSeconds(30));
        queue.watch(
                new QueueAttributes(Map.of(
                        QueueAttributeName.QUEUE_ARN, "arn:aws:sqs:%s:%s:%s".formatted(region, path[3], path[4]))),
                read -> {});
        queues.require(new Subscription(listener, path[4], VisibilityWindow.ofSeconds(30), queue));
    }

    @ParameterizedTest
    @CsvSource({"orders, orders", "orders, " + US, "arn:aws:sqs:eu-central-1:123456789012:orders, orders"})
    void queuesOfOneNameFailTheStartupThatFindsThemToBeTwo(String first, String second) {
        queues.add("eu", List.of(first), enforced("unscoped"));
        queues.add("us", List.of(second), enforced("unscoped"));

        assertThatThrownBy(() -> {
                    start("eu", EU);
                    start("us", US);
                })
                .isInstanceOfSatisfying(
                        InvalidListenerException.class,
                        refused -> assertThat(refused.remedy()).startsWith("set scope on both listeners"))
                .hasMessageContaining("these two queues have one name, so they share keys")
                .hasMessageContaining("istener 'eu' (" + Sharing.class.getName() + ".unscoped) on queue " + EU)
                .hasMessageContaining("istener 'us' (" + Sharing.class.getName() + ".unscoped) on queue " + US);
    }

    @Test
    void queuesOfOneNameInTwoAccountsFailStartup() {
        queues.add("own", List.of("orders"), enforced("unscoped"));
        queues.add("theirs", List.of("orders"), enforced("unscoped"));
        start("theirs", OTHER_ACCOUNT);

        assertThatThrownBy(() -> start("own", EU)).hasMessageContaining(EU).hasMessageContaining(OTHER_ACCOUNT);
    }

    @Test
    void listenerThatStartsAgainIsNotComparedWithItself() {
        queues.add("eu", List.of("orders"), enforced("unscoped"));
        queues.add("eu too", List.of(EU), enforced("unscoped"));
        start("eu", EU);
        start("eu too", EU);

        assertThatCode(() -> start("eu", EU)).doesNotThrowAnyException();
    }

    @Test
    void listenerThatStartsAgainAfterARefusalIsRefusedAgain() {
        queues.add("eu", List.of("orders"), enforced("unscoped"));
        queues.add("us", List.of("orders"), enforced("unscoped"));
        start("eu", EU);

        assertThatThrownBy(() -> start("us", US)).isInstanceOf(InvalidListenerException.class);
        assertThatThrownBy(() -> start("us", US)).isInstanceOf(InvalidListenerException.class);
        assertThatCode(() -> start("eu", EU)).doesNotThrowAnyException();
    }

    /** The URLs and ARNs alone show two different queues, so startup fails before any client looks up the queues. */
    @ParameterizedTest
    @CsvSource({EU + ", " + US, "arn:aws:sqs:eu-central-1:123456789012:orders, " + US, OTHER_ACCOUNT + ", " + EU})
    void queuesThatTextsShowToBeTwoFailBeforeTheyAreFound(String first, String second) {
        queues.add("first", List.of(first), enforced("unscoped"));

        assertThatThrownBy(() -> queues.add("second", List.of(second), enforced("unscoped")))
                .hasMessageContaining(first)
                .hasMessageContaining(second);
    }

    @Test
    void remedyForOneListenerOfTwoQueuesOfOneNameIsTwoListeners() {
        queues.add("both", List.of("orders", US), enforced("unscoped"));
        start("both", US);

        assertThatThrownBy(() -> start("both", EU))
                .isInstanceOfSatisfying(
                        InvalidListenerException.class,
                        refused -> assertThat(refused.remedy()).startsWith("give each queue a listener"))
                .hasMessageContaining(EU)
                .hasMessageContaining(US);
    }

    @Test
    void oneListenerOfTwoQueuesSharesKeysIfItSetsAScope() {
        queues.add("both", List.of("orders", US), enforced("usual"));

        start("both", EU);
        start("both", US);
    }

    @Test
    void nameAndUrlOfOneQueueShareItsKeys(CapturedOutput output) {
        queues.add("name", List.of("orders"), enforced("unscoped"));
        queues.add("url", List.of(EU), enforced("unscoped"));
        queues.add("both", List.of("orders", EU), enforced("unscoped"));

        start("name", EU);
        start("url", "https://EU-CENTRAL-1.queue.amazonaws.com/123456789012/orders");
        start("both", EU);
        start("both", EU);

        assertThat(output).doesNotContain("WARN");
    }

    @Test
    void twoScopesOnTwoQueuesOfOneNameAreNoReasonToWarn(CapturedOutput output) {
        queues.add("eu", List.of("orders"), enforced("usual"));
        queues.add("us", List.of("orders"), enforced("orders"));

        start("eu", EU);
        start("us", US);

        assertThat(output).doesNotContain("WARN");
    }

    /**
     * The listeners set the same scope, so they share keys. A shared key may be the id of an event that both regions
     * receive.
     */
    @Test
    void oneScopeThatBothListenersSetIsShared() {
        queues.add("eu", List.of("orders"), enforced("usual"));
        queues.add("us", List.of("orders"), enforced("usual"));
        queues.add("returns", List.of("returns"), enforced("usual"));

        start("eu", EU);
        start("us", US);
    }

    @Test
    void scopeThatIsTheNameOfAnotherListenersQueueFails() {
        queues.add("default", List.of("orders"), enforced("unscoped"));

        assertThatThrownBy(() -> queues.add("events", List.of("order-events"), enforced("orders")))
                .isInstanceOf(InvalidListenerException.class)
                .hasMessageContaining("the scope 'orders' of one is the default of the other")
                .hasMessageContaining("on queue order-events");
    }

    @Test
    void scopeThatIsTheNameOfTheListenersOwnQueueIsTheDefault() {
        queues.add("default", List.of("orders"), enforced("unscoped"));
        queues.add("named", List.of("orders"), enforced("orders"));

        start("default", EU);
        start("named", EU);
    }

    @Test
    void fifoQueueHasAnotherNameThanTheStandardQueueBesideIt() {
        queues.add("standard", List.of("orders"), enforced("unscoped"));
        queues.add("fifo", List.of("orders.fifo"), enforced("unscoped"));

        start("standard", EU);
        start("fifo", EU + ".fifo");
    }

    @Test
    void containersThatStartInParallelMeetEachOther() throws Exception {
        queues.add("eu", List.of("orders"), enforced("unscoped"));
        queues.add("us", List.of("orders"), enforced("unscoped"));
        List<Throwable> refused = new CopyOnWriteArrayList<>();
        Thread other = new Thread(() -> start("us", US));
        other.setUncaughtExceptionHandler((thread, failure) -> refused.add(failure));
        other.start();
        try {
            start("eu", EU);
        } catch (InvalidListenerException failure) {
            refused.add(failure);
        }
        other.join();

        assertThat(refused).hasSize(1);
    }

    /**
     * If startup succeeded, the observed listener would complete keys of the enforced listener. The enforced listener
     * would then delete its own messages unhandled.
     */
    @Test
    void enforcedListenerFailsBesideAnObservedOneOfAnotherQueueWhoseKeysItWouldHonour() {
        queues.add("observed", List.of(EU), observed("unscoped"));

        assertThatThrownBy(() -> queues.add("enforced", List.of(US), enforced("unscoped")))
                .isInstanceOf(InvalidListenerException.class);
    }

    @Test
    void keysOfAnObservedListenerAreNotRecordedOnceItsQueueIsFoundToBeAnother(CapturedOutput output) {
        queues.add("enforced", List.of("orders"), enforced("unscoped"));
        queues.add("observed", List.of("orders"), observed("unscoped"));
        start("enforced", EU);
        Consumer<String> observing = queues.observing("observed");

        assertThatThrownBy(() -> observing.accept(US)).hasMessageContaining("these two queues have one name");
        assertThatThrownBy(() -> observing.accept(US)).hasMessageContaining("these two queues have one name");

        assertThat(output)
                .containsOnlyOnce("WARN")
                .contains(
                        "Startup would fail with mode = enforce, and continues because the listener is only observed: Listener 'enforced'");
    }

    @Test
    void keysOfAnObservedListenerAreRecordedOnTheQueueOfAnEnforcedOne(CapturedOutput output) {
        queues.add("enforced", List.of("orders"), enforced("unscoped"));
        queues.add("observed", List.of("orders"), observed("unscoped"));
        start("enforced", EU);

        queues.observing("observed").accept(EU);

        assertThat(output).doesNotContain("WARN");
    }

    @Test
    void observedListenersOfTwoQueuesOfOneNameStartAndRecordNoKeys(CapturedOutput output) {
        queues.add("eu", List.of(EU), observed("unscoped"));
        queues.add("us", List.of(US), observed("unscoped"));

        assertThat(output).contains("because the listener is only observed: Listener 'eu'");
        assertThatThrownBy(() -> queues.observing("eu").accept(EU)).isInstanceOf(InvalidListenerException.class);
        assertThatThrownBy(() -> queues.observing("us").accept(US)).isInstanceOf(InvalidListenerException.class);
    }

    @Test
    void listenersOnOneQueueWithDifferentScopesAreLogged(CapturedOutput output) {
        queues.add("first", List.of("orders", "bills"), enforced("unscoped"));
        queues.add("second", List.of("arn:aws:sqs:eu-central-1:123456789012:orders"), enforced("orders"));
        queues.add("third", List.of(EU), enforced("usual"));
        start("first", EU);
        start("second", EU);
        assertThat(output).doesNotContain("second");
        start("third", EU);
        start("third", EU);

        assertThat(output)
                .containsOnlyOnce("WARN")
                .contains("Listener 'third' on queue '" + EU + "' has the scope 'fulfilment'", "'first' has 'orders'");
    }

    @Test
    void listenersOfOneScopeThatDisagreeOnDoubtsAreLogged(CapturedOutput output) {
        queues.add("careful", List.of("orders"), observed("careful"));
        queues.add("alike", List.of("returns"), observed("careful"));
        queues.add("elsewhere", List.of("bills"), observed("unscoped"));
        assertThat(output).doesNotContain("whenInDoubt");
        queues.add("careless", List.of("refunds"), observed("usual"));

        assertThat(output)
                .contains(
                        "Listener 'careless' of scope 'fulfilment' has whenInDoubt = RERUN",
                        "listener 'careful' has PARK",
                        "Give both the same, or each its own scope");
    }

    @Test
    void listenersOfOneScopeWithDifferentEffectsAreLogged(CapturedOutput output) {
        queues.add("books", List.of("orders"), observed("transactional"));
        queues.add("alike", List.of("returns"), observed("transactional"));
        queues.add("elsewhere", List.of("bills"), observed("unscoped"));
        assertThat(output).doesNotContain("effects");
        queues.add("mails", List.of("refunds"), observed("usual"));

        assertThat(output)
                .contains(
                        "Listener 'mails' of scope 'fulfilment' has effects = EXTERNAL",
                        "listener 'books' has DATABASE",
                        "Give both the same, or each its own scope");
    }

    private void refreshWithPlainListenerOn(String queue) {
        SqsMessageListenerContainer<Object> plain = SqsMessageListenerContainer.builder()
                .sqsAsyncClient(new FakeReceives())
                .id("plain")
                .configure(options -> options.autoStartup(false))
                .queueNames(queue)
                .messageListener(message -> {})
                .build();
        GenericApplicationContext beans = new GenericApplicationContext();
        beans.registerBean(SqsMessageListenerContainer.class, () -> plain);
        PlainListeners warnings = new PlainListeners(listeners);
        beans.registerBean(PlainListeners.class, () -> warnings);
        beans.addApplicationListener(warnings);
        beans.refresh();
        // A child context, like the context of the management server. The event of the child must not repeat the
        // warning.
        GenericApplicationContext child = new GenericApplicationContext(beans);
        child.refresh();
        warnings.onApplicationEvent(new ContextRefreshedEvent(child));
    }

    @Test
    void plainListenerOnTheQueueOfAListenerThatClaimsIsLogged(CapturedOutput output) {
        queues.add("claiming", List.of("orders"), enforced("unscoped"));
        start("claiming", EU);

        refreshWithPlainListenerOn("orders");

        assertThat(output)
                .containsOnlyOnce("WARN")
                .contains("Listener 'plain' on queue 'orders' claims no keys, but listener 'claiming' on queue '" + EU
                        + "' does: if they are one queue");
    }

    @Test
    void plainListenerOnAQueueOfTheSameNameElsewhereIsNoReasonToWarn(CapturedOutput output) {
        queues.add("claiming", List.of("orders"), enforced("unscoped"));
        start("claiming", EU);

        refreshWithPlainListenerOn(US);

        assertThat(output).doesNotContain("WARN");
    }
}
