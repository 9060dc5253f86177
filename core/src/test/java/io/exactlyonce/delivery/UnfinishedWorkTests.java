package io.exactlyonce.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.ConcurrentModificationException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.dynamic.DynamicType;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.springframework.core.ResolvableType;

class UnfinishedWorkTests {

    record Booking(String id, CompletableFuture<Void> done) {}

    record Trip(List<Booking> bookings) {}

    /** A final class that is not a record, like a data class of Kotlin. */
    static final class Parcel {
        @Nullable Future<String> label;
    }

    /** A record that contains a function and calls the function itself, so no work is left unfinished. */
    record Lazily(Supplier<String> text) {}

    record Tree(String name, List<Tree> children) {}

    static class Open {
        @Nullable Future<String> label;
    }

    static class Bookings extends ArrayList<CompletionStage<String>> {
        private static final long serialVersionUID = 1;
    }

    enum Level implements Comparable<Level> {
        LOW
    }

    interface Unfinished {
        Future<String> future();

        ForkJoinTask<String> task();

        Flow.Publisher<String> flow();

        Publisher<String> publisher();

        Callable<String> callable();

        Runnable runnable();

        Thread thread();

        Supplier<String> supplier();

        Stream<String> stream();

        IntStream ints();

        Iterator<String> iterator();

        Process process();

        Optional<CompletableFuture<String>> optional();

        List<? extends Future<String>> futures();

        List<? super Future<String>> lowerBound();

        Map<String, List<Callable<String>>> nested();

        CompletableFuture<String>[] array();

        Bookings ofASupertype();

        Booking component();

        Trip componentOfAComponent();

        Parcel field();

        <T extends Future<String>> T bound();
    }

    interface Finished {
        void nothing();

        int number();

        String text();

        Object anything();

        List<?> unknown();

        @SuppressWarnings("rawtypes")
        Map raw();

        Map<String, Object> map();

        Optional<String> optional();

        byte[] bytes();

        Level level();

        Lazily function();

        Tree tree();

        Open open();

        <T extends Comparable<T>> T comparable();

        Class<?> type();

        Page<String> page();

        Map<String, Page<String>> pages();

        Strategy strategy();
    }

    /** A loaded collection that also supplies its elements, like a page of Spring Data. */
    static final class Page<T> implements Iterable<T>, Supplier<Stream<T>> {
        @Override
        public Iterator<T> iterator() {
            return Collections.emptyIterator();
        }

        @Override
        public Stream<T> get() {
            return Stream.empty();
        }
    }

    enum Strategy implements Supplier<String>, Runnable {
        PLAIN,
        SPECIAL {
            @Override
            public String get() {
                return "special";
            }
        };

        @Override
        public String get() {
            return "plain";
        }

        @Override
        public void run() {}
    }

    static Stream<String> unfinished() {
        return names(Unfinished.class);
    }

    static Stream<String> finished() {
        return names(Finished.class);
    }

    private static Stream<String> names(Class<?> type) {
        return Arrays.stream(type.getDeclaredMethods()).map(method -> method.getName());
    }

    private static ResolvableType returned(Class<?> type, String name) {
        return Arrays.stream(type.getDeclaredMethods())
                .filter(method -> method.getName().equals(name))
                .map(ResolvableType::forMethodReturnType)
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @MethodSource
    void unfinished(String name) {
        assertThat(UnfinishedWork.in(returned(Unfinished.class, name))).isNotNull();
    }

    @ParameterizedTest
    @MethodSource
    void finished(String name) {
        assertThat(UnfinishedWork.in(returned(Finished.class, name))).isNull();
    }

    /** An application's class path may have these types, but the class path of this test does not. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "kotlinx.coroutines.Job",
                "kotlinx.coroutines.flow.Flow",
                "kotlin.Function",
                "org.springframework.web.context.request.async.DeferredResult",
                "org.springframework.web.context.request.async.WebAsyncTask",
                "reactor.core.Disposable",
                "io.reactivex.rxjava3.core.SingleSource",
                "io.smallrye.mutiny.Uni",
                "io.vavr.concurrent.Future",
                "scala.concurrent.Future",
                "io.vertx.core.Future",
                "software.amazon.awssdk.transfer.s3.model.Transfer"
            })
    void kindsOfLibrariesAreKnownByTheirNamesAlongTheHierarchy(String name) {
        ByteBuddy classes = new ByteBuddy();
        Class<?> known = load(classes.makeInterface().name(name), UnfinishedWorkTests.class);
        Class<?> own = load(classes.makeInterface(known).name("com.example.Own"), known);
        Class<?> sub = load(classes.subclass(Object.class).implement(own).name("com.example.Made"), own);

        assertThat(UnfinishedWork.is(known)).isTrue();
        assertThat(UnfinishedWork.in(ResolvableType.forClassWithGenerics(List.class, sub)))
                .isEqualTo(sub);
    }

    @Test
    void kindOfWorkIsTold() {
        Class<?> job = made("kotlinx.coroutines.Job");
        Class<?> lazy = made("kotlin.Lazy");

        assertThat(UnfinishedWork.isCoroutine(job)).isTrue();
        assertThat(UnfinishedWork.isCoroutine(lazy)).isFalse();
        assertThat(UnfinishedWork.isCoroutine(Future.class)).isFalse();
        assertThat(Stream.of(lazy, Callable.class, Supplier.class, Stream.class, Iterator.class))
                .allMatch(UnfinishedWork::isDeferred);
        assertThat(Stream.of(job, Future.class, FutureTask.class, String.class, Page.class, Strategy.class))
                .noneMatch(UnfinishedWork::isDeferred);
    }

    private static Class<?> made(String name) {
        return load(new ByteBuddy().makeInterface().name(name), UnfinishedWorkTests.class);
    }

    @Test
    void resultThatContainsItselfIsReadOnce() {
        List<Object> list = new ArrayList<>();
        list.add(list);
        Map<String, Object> map = new HashMap<>();
        map.put("itself", map);
        Object[] array = new Object[1];
        array[0] = array;

        for (Object result : List.of(list, map, array)) {
            assertThat(UnfinishedWork.in(result)).isNull();
        }
    }

    /** A collection of another library may load its elements when it is read. */
    @Test
    void collectionOfAnApplicationIsNotRead() {
        assertThat(UnfinishedWork.in(new Bookings())).isNull();
        Bookings read = new Bookings();
        read.add(new CompletableFuture<>());

        assertThat(UnfinishedWork.in((Object) read)).isNull();
        assertThat(UnfinishedWork.in((Object) new ArrayList<>(read))).isEqualTo(CompletableFuture.class);
    }

    private static Class<?> load(DynamicType.Builder<?> type, Class<?> parent) {
        return type.make()
                .load(parent.getClassLoader(), ClassLoadingStrategy.Default.WRAPPER)
                .getLoaded();
    }

    @Test
    void valueThatAlsoSuppliesItselfHasEnded() {
        for (Object result :
                List.of(new Page<String>(), Strategy.PLAIN, Strategy.SPECIAL, List.of(new Page<String>()))) {
            assertThat(UnfinishedWork.in(result)).isNull();
        }
    }

    @Test
    void resultIsSeenWhateverItsMethodDeclares() {
        Future<String> future = new FutureTask<>(() -> "");
        Map<String, Object> map = new HashMap<>();
        map.put("nothing", null);
        map.put("future", future);

        for (Object result : List.of(
                future,
                Optional.of(future),
                List.of("text", List.of(future)),
                map,
                new Object[] {null, future},
                (Callable<String>) () -> "")) {
            assertThat(UnfinishedWork.in(result)).isNotNull();
        }
        for (Object result : List.of("text", 1, Optional.empty(), List.of("text"), Map.of("a", "b"), new int[1])) {
            assertThat(UnfinishedWork.in(result)).isNull();
        }
        assertThat(UnfinishedWork.in((Object) null)).isNull();
    }

    /** The effect has happened, so a bad result must not prevent the completion. */
    @Test
    void collectionThatCannotBeReadHidesNothing() {
        List<String> loading = new AbstractList<>() {
            @Override
            public String get(int index) {
                throw new IllegalStateException("no session");
            }

            @Override
            public int size() {
                return 1;
            }
        };
        Map<String, Object> changing = new HashMap<>() {
            private static final long serialVersionUID = 1;

            @Override
            public java.util.Collection<Object> values() {
                throw new ConcurrentModificationException();
            }
        };

        assertThat(UnfinishedWork.in(loading)).isNull();
        assertThat(UnfinishedWork.in(changing)).isNull();
        assertThat(UnfinishedWork.in(java.util.Collections.unmodifiableList(loading)))
                .isNull();
    }
}
