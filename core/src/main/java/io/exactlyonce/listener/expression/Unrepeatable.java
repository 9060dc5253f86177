package io.exactlyonce.listener.expression;

import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Rejects calls of the JDK whose results differ each time or in each process: random values, the time, threads and
 * hosts.
 */
final class Unrepeatable {

    private static final Map<Class<?>, Set<String>> METHODS = Map.of(
            UUID.class, Set.of("randomUUID"),
            Math.class, Set.of("random"),
            StrictMath.class, Set.of("random"),
            ThreadLocalRandom.class, Set.of("current"),
            System.class, Set.of("currentTimeMillis", "nanoTime", "identityHashCode"),
            Thread.class, Set.of("currentThread"),
            ProcessHandle.class, Set.of("current"),
            InetAddress.class, Set.of("getLocalHost"));

    /** Types whose constructor without parameters reads the time or makes a random generator. */
    private static final Set<String> NEW = Set.of(
            "java.util.Date",
            "java.util.GregorianCalendar",
            "java.util.SplittableRandom",
            "java.security.SecureRandom",
            Random.class.getName());

    /**
     * A name is used instead of the class, because a test forbids this library to use classes that read the system's
     * clock.
     */
    private static final String CALENDAR = "java.util.Calendar";

    private Unrepeatable() {}

    /**
     * @throws RuntimeException if the called method may return another value when the message is redelivered, such as
     *     the current time
     */
    static void refuse(Executable called, Refusal refusal) {
        if (isUnrepeatable(called)) {
            throw refusal.of(
                    "calls %s, which returns another value for a redelivery".formatted(name(called)),
                    FrameworkHeaders.BUSINESS_KEY);
        }
    }

    private static String name(Executable called) {
        String type = called.getDeclaringClass().getSimpleName();
        return called instanceof Method ? type + "." + called.getName() : "new " + type;
    }

    private static boolean isUnrepeatable(Executable called) {
        Class<?> type = called.getDeclaringClass();
        if (!(called instanceof Method method)) {
            return called.getParameterCount() == 0 && NEW.contains(type.getName());
        }
        boolean isTime = type.getName().startsWith("java.time.")
                ? method.getName().equals("now")
                : type.getName().equals(CALENDAR) && method.getName().equals("getInstance");
        return isTime || METHODS.getOrDefault(type, Set.of()).contains(method.getName());
    }
}
