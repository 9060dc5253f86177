package io.exactlyonce.sample.live;

import static java.lang.Boolean.TRUE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.exactlyonce.sample.IncidentLab;
import io.exactlyonce.sample.lab.Console;
import io.exactlyonce.sample.lab.Kind;
import io.exactlyonce.sample.lab.Workspace;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.openqa.selenium.Keys;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.util.ReflectionTestUtils;

/**
 * The page in a real browser, as the story goes on: each test begins where the one before it has ended. Screenshots go to
 * {@code target/screenshots}, or where {@code -Dscreenshots} says.
 */
@TestMethodOrder(OrderAnnotation.class)
class LivePageIT {

    private static final Duration PATIENCE = Duration.ofSeconds(90);
    private static final int WIDTH = 1400;
    private static final int HEIGHT = 900;
    private static final Path SCREENSHOTS = Path.of(System.getProperty("screenshots", "target/screenshots"));
    private static final String NAIVE = "#naive [data-value=duplicates]";
    private static final String OURS = "#exactlyOnce [data-value=duplicates]";
    private static final String SUPPRESSED = "#exactlyOnce [data-engine=suppressed]";
    private static final String WAITED = "#exactlyOnce [data-engine=waited]";
    private static final String TAKEOVERS = "#exactlyOnce [data-engine=takeovers]";
    private static final List<String> SIDES = List.of("#naive", "#exactlyOnce");

    private static LiveLab lab;
    private static Browser browser;

    @BeforeAll
    static void open() throws Exception {
        assumeTrue(
                Browser.program().isPresent() && Browser.driverProgram().isPresent(),
                "needs chromium and chromedriver: apt-get install chromium chromium-driver");
        LiveSettings settings = LiveSettings.standard().withPort(0);
        lab = LiveLab.open(settings, Workspace.create(), new Console(System.out, false), IncidentLab.class);
        browser = Browser.open(lab.url());
        browser.view(WIDTH, HEIGHT, 1);
    }

    @AfterAll
    static void close() {
        if (browser != null) {
            browser.close();
        }
        if (lab != null) {
            lab.close();
        }
    }

    /** A second connection keeps everything that the page is told. */
    @Test
    @Order(1)
    void chartsAreEmptyAndNoOrderFlowsBeforeAllWorkersAreReady() throws Exception {
        browser.run("""
                window.ticks = [];
                new EventSource('events').addEventListener('tick', tick => ticks.push(JSON.parse(tick.data)));
                """);
        await().atMost(PATIENCE).until(() -> browser.text("#story").startsWith("The workers are starting"));
        assertThat(SIDES).allSatisfy(side -> {
            assertThat(points(side)).isEmpty();
            assertThat(browser.number(side + " [data-value=orders]")).isZero();
        });

        lab.startWorkers();

        await().atMost(PATIENCE)
                .until(() -> browser.run("return ticks.some(tick => tick.chapter !== 'STARTING')"), TRUE::equals);
        assertThat((List<?>) browser.run("""
                const isReady = tick => [tick.naive, tick.exactlyOnce].every(
                    side => side.ready.length === 2 && side.starting.length === 0);
                const isEmpty = tick => [tick.naive, tick.exactlyOnce].every(
                    side => side.takings.charges === 0 && side.inHand.length === 0 && side.p95Millis === 0);
                const ready = ticks.findIndex(tick => tick.chapter !== 'STARTING');
                return [...ticks.slice(0, ready).filter(tick => !isEmpty(tick)), ...[ticks[ready]].filter(tick => !isReady(tick))]
                    .map(JSON.stringify);
                """)).isEmpty();
    }

    @Test
    @Order(2)
    void ordersFlowOnBothSidesAndAllIsExplained() {
        await().atMost(PATIENCE)
                .until(() -> SIDES.stream().noneMatch(side -> points(side).isEmpty()));

        assertThat(SIDES).allSatisfy(side -> {
            assertThat(browser.number(side + " [data-value=orders]")).isPositive();
            assertThat(points(side).get(0)).as("first p95 in percent").isBetween(1.0, 80.0);
        });
        assertThat(browser.text("#connection")).isEqualTo("Connected.");
    }

    /** Nothing that stands still or moves in a chart may hide its curve: there is one, and limits are drawn beneath. */
    @Test
    @Order(3)
    void eachSideHasAChartWithOneCurve() {
        assertThat(SIDES)
                .allSatisfy(side -> assertThat(browser.run(
                                "return Chart.getChart(document.querySelector(arguments[0])).data.datasets.length",
                                side + " canvas"))
                        .isEqualTo(1L));
    }

    @Test
    @Order(4)
    void everyControlIsSeenWithoutScrollingOnALaptop() {
        assertThat((List<?>) browser.run("""
                return [...document.querySelectorAll('button, select, #story, .counts, canvas')]
                    .map(each => [each.outerHTML, each.getBoundingClientRect()])
                    .filter(([_, box]) => box.width === 0 || box.top < 0 || box.left < 0
                        || box.bottom > innerHeight || box.right > innerWidth)
                    .map(([html]) => html);
                """)).isEmpty();
        assertThat(browser.run("return [innerWidth, innerHeight, scrollY]")).isEqualTo(List.of(1_400L, 900L, 0L));
    }

    @Test
    @Order(5)
    void naiveSideChargesTwiceOnceHandlersOutlastTheVisibilityTimeoutAndOursDoesNot() {
        await().atMost(PATIENCE).until(() -> browser.number(NAIVE) >= 10);
        await().atMost(PATIENCE).until(() -> browser.number("[data-engine=windowRenewals]") > 0);

        assertThat(browser.number(OURS)).isZero();
        assertThat(browser.text("#story"))
                .containsPattern("Duplicate charges: [1-9]\\d* on the left, 0 on the right\\.");
        assertThat(browser.find("#naive canvas").getDomAttribute("aria-label"))
                .matches("p95 of handlers is \\d+ % of the visibility timeout on the naive side");
        assertThat(browser.number("[data-engine=claims]")).isPositive();
    }

    @Test
    @Order(6)
    void storyTellsItselfToItsEnd() {
        await().atMost(PATIENCE).until(() -> browser.text("#log").contains("the story is told"));

        assertThat(browser.number(SUPPRESSED)).isPositive();
        assertThat(browser.number(WAITED)).isPositive();
        assertThat(browser.number(TAKEOVERS)).isPositive();
        assertThat(browser.number("[data-engine=honoured]")).isPositive();
        assertThat(browser.number("[data-engine=mismatches]")).isZero();
        assertThat(browser.number(OURS)).isZero();
        assertThat(browser.text("#log")).contains("is killed with SIGKILL", "delivered once more to both sides");
        // No assertion: machines differ.
        System.out.println(browser.run("""
                const ready = ticks.find(tick => tick.chapter !== 'STARTING').second;
                const after = what => ticks.flatMap(tick => tick.happenings)
                    .find(each => each.side !== 'exactly-once' && each.what === what).second - ready;
                return `After the page says that workers are ready: first duplicate charge ${after('duplicate').toFixed(1)} s,`
                    + ` end of the story ${after('story-over').toFixed(1)} s`;
                """));
        assertThat(browser.accessibilityViolations()).isEmpty();
    }

    @Test
    @Order(7)
    void darkModeCanBeRead() throws Exception {
        // Without the focus: keys have a test of their own, which begins at the top.
        browser.run("document.querySelector('[data-switch=partner]').click()");
        long before = browser.number(NAIVE);
        await().atMost(PATIENCE).until(() -> browser.number(NAIVE) >= before + 10);
        await().atMost(PATIENCE).until(() -> browser.has("#naive .charges .duplicate"));
        browser.screenshot(SCREENSHOTS.resolve("lab-light.png"));

        browser.prefer("prefers-color-scheme", "dark");
        assertThat(browser.accessibilityViolations()).isEmpty();
        await().atMost(PATIENCE).until(() -> browser.has("#naive .charges .duplicate"));
        browser.screenshot(SCREENSHOTS.resolve("lab-dark.png"));
    }

    @Test
    @Order(8)
    void phoneShowsBothSidesAtOnceWithoutScrollingSideways() throws Exception {
        browser.view(390, 844, 2);

        assertThat(browser.run("return document.documentElement.scrollWidth")).isEqualTo(390L);
        assertThat(
                        browser.run(
                                "return document.querySelector('#exactlyOnce').getBoundingClientRect().right <= 390"
                                        + " && document.querySelector('#exactlyOnce .duplicates').getBoundingClientRect().bottom <= 844"))
                .isEqualTo(true);
        assertThat(browser.accessibilityViolations()).isEmpty();
        browser.screenshot(SCREENSHOTS.resolve("lab-phone.png"));
        browser.view(WIDTH, HEIGHT, 1);
    }

    /** Checks the page before the chart has followed, because a page may be shown, or touched, at any moment. */
    @Test
    @Order(9)
    void pageThatBecomesNarrowerNeverScrollsSideways() {
        for (int turn = 0; turn < 30; turn++) {
            browser.view(WIDTH, HEIGHT, 1);
            assertThat(browser.run("return document.documentElement.scrollWidth"))
                    .isEqualTo(1_400L);
            browser.view(390, 844, 2);
            assertThat(browser.run("return document.documentElement.scrollWidth"))
                    .isEqualTo(390L);
        }
        browser.view(WIDTH, HEIGHT, 1);
    }

    @Test
    @Order(10)
    void everyButtonIsReachedAndPressedByKeyboard() {
        browser.run("document.activeElement.blur(); scrollTo(0, 0)");
        browser.press(Keys.TAB);
        assertThat(browser.run("return document.activeElement.className")).isEqualTo("skip");

        press("[data-action=kill]", Keys.ENTER, "Killed, one on each side");
        press("[data-switch=replica]", Keys.SPACE, "The replica lags by 10 s");
        await().atMost(PATIENCE).until(() -> isPressed("[data-switch=replica]"));
        press("[data-action=redeliver]", Keys.ENTER, "All orders of the last minute are sent once more");
        browser.tabTo("#window");
        assertFocusIsVisible();
        browser.press(Keys.ARROW_DOWN);
        await().atMost(PATIENCE).until(() -> browser.text("#answer").startsWith("SQS applies 6 s"));
        await().atMost(PATIENCE)
                .until(() -> browser.text("#log").contains("the visibility timeout of both queues is 6 s"));
    }

    @Test
    @Order(11)
    void partnerRecovers() {
        browser.run("document.activeElement.blur(); scrollTo(0, 0)");
        press("[data-switch=partner]", Keys.SPACE, "The partner is quick again");

        await().atMost(PATIENCE).until(() -> !isPressed("[data-switch=partner]"));
        assertThat(browser.number(OURS)).isZero();
    }

    @Test
    @Order(12)
    void nothingMovesForThosePersonsWhoDoNotWantIt() {
        browser.prefer("prefers-reduced-motion", "reduce");
        browser.run("document.querySelector('#naive').classList.add('hit')");

        assertThat(browser.run("return getComputedStyle(document.querySelector('#naive')).animationName"))
                .isEqualTo("none");
    }

    @Test
    @Order(13)
    void nothingWasLoadedFromElsewhereAndNothingWentWrong() {
        assertThat((List<?>) browser.run("return performance.getEntriesByType('resource').map(each => each.name)"))
                .isNotEmpty()
                .allMatch(name -> name.toString().startsWith(lab.url().toString()));
        assertThat(browser.complaints()).isEmpty();
    }

    /** An operator's night: a payout is in doubt, and is decided once it is known that the money is gone. */
    @Test
    @Order(14)
    void payoutOfAKilledWorkerIsParkedFoundAndCompletedOnTheConsole() throws Exception {
        browser.prefer("prefers-color-scheme", "light");
        await().atMost(PATIENCE).until(() -> {
            // The answer of an earlier button must not count: a second press would kill the worker whose console is
            // open.
            browser.run("document.querySelector('#answer').textContent = '';"
                    + "document.querySelector('[data-action=payout]').click()");
            await().atMost(PATIENCE).until(() -> !browser.text("#answer").isEmpty());
            return browser.text("#answer").startsWith("Paid");
        });
        assertThat(lab.paid("payout-0001")).isEqualTo(1);
        assertThat(browser.find("#about-payout a").getDomAttribute("href")).isEqualTo("console");
        browser.go(lab.url().resolve("/console"));

        awaitParked("payouts");
        assertThat(browser.text("#parked-rows")).contains("payout-0001", "in doubt");
        awaitDeadLetters(true);
        assertThat(browser.text("#letters")).contains("parked");
        browser.run("document.activeElement.blur(); scrollTo(0, 0)");
        browser.tabTo("#parked-rows input[type=checkbox]");
        assertFocusIsVisible();
        browser.press(Keys.SPACE);
        browser.choose("#parked-decide [name=decision][value=complete]");
        browser.tabTo("#parked-decide [name=reason]");
        browser.press("the bank has the payout", Keys.ENTER);
        await().atMost(PATIENCE)
                .until(() -> browser.text("#parked-answer").contains("Dry run: 1 key would be completed"));
        assertThat(statusOf("payout-0001")).isEqualTo("PARKED");
        browser.screenshot(SCREENSHOTS.resolve("console-parked.png"));
        browser.tabTo("#decide");
        browser.press(Keys.ENTER);
        await().atMost(PATIENCE).until(() -> browser.text("#parked-answer").contains("1 key completed"));
        assertThat(statusOf("payout-0001")).isEqualTo("COMPLETED");
    }

    /** The message that comes back is a duplicate of a completed key: the effect stays one. */
    @Test
    @Order(15)
    void deadLetterOfADecidedKeyIsRedrivenAndPaysNothingAgain() {
        awaitDeadLetters(true);
        assertThat(browser.text("#letters")).contains("completed");

        browser.find("#letters tbody input").click();
        browser.type("#letters-act [name=reason]", "decided");
        browser.find("#letters-act button").click();

        await().atMost(PATIENCE).until(() -> browser.text("#letters-answer").contains("1 message sent back"));
        awaitDeadLetters(false);
        assertThat(lab.paid("payout-0001")).isEqualTo(1);
    }

    @Test
    @Order(16)
    void claimIsFoundByItsKeyWithItsHistoryInWords() {
        browser.type("#claim-find [name=scope]", "payouts");
        browser.choose("#claim-find [name=by] [value=key]");
        browser.type("#claim-find [name=value]", "payout-0001");
        browser.press(Keys.ENTER);

        await().atMost(PATIENCE).until(() -> browser.text("#claim-found").contains("Its effect is recorded"));
        assertThat(browser.text("#claim-found .history")).contains("Attempt 1");
        browser.type("#claim-find [name=value]", "payout-9999");
        browser.press(Keys.ENTER);
        await().atMost(PATIENCE).until(() -> browser.has("#claim-found .notice"));
    }

    /** Texts that anybody can send: each is shown as text, whole on request, and its key can be decided. */
    @Test
    @Order(17)
    void hostileTextsAreTextAndHostileKeysAreDecided() throws Exception {
        String script = "<script>window.hostile = 1</script><img src=x onerror='window.hostile = 2'>";
        String reversed = "A-\u202e1-\u05d0\u05d1\u0007";
        park("hostile", script + "k".repeat(400), script + "e".repeat(10_000));
        park("hostile", reversed, reversed + ": \u2067" + "\u05d0".repeat(300));
        park("hostile <b>" + "s".repeat(400), "x", "javascript:window.hostile = 3");
        browser.view(WIDTH, HEIGHT, 1);
        browser.go(lab.url().resolve("/console"));
        // Names of listeners are the application's own: hostile ones come from a response that is changed on its way.
        browser.run("""
                const ask = window.fetch;
                window.asked = [];
                window.fetch = async (url, request) => {
                    window.asked.push([String(url), {...request.headers}]);
                    // Spring Security's default handler also expects a masked token, as in a page from the server.
                    if (request.method === 'POST' && (window.refusing || request.headers['X-XSRF-TOKEN'] === 'a/b')) return new Response('', {status: 403});
                    const response = await ask(url, request);
                    if (!/\\/exactlyonce(\\/overview)?$/.test(new URL(url).pathname) || new URL(url).searchParams.has('key')) return response;
                    const body = await response.json();
                    const it = body.listeners[0];
                    it.listener = arguments[0] + 'n'.repeat(10000);
                    it.queue = arguments[1];
                    it.pausedBy = arguments[0];
                    it.audit = [{rule: arguments[0], severity: arguments[0], found: arguments[1], bound: 'b'.repeat(10000), remedy: arguments[0]}];
                    return new Response(JSON.stringify(body), {headers: {'Content-Type': 'application/json'}});
                };
                """, script, reversed);

        awaitParked("hostile");
        await().atMost(PATIENCE).until(() -> browser.has(".listener.paused"));

        assertThat(browser.run("return window.hostile === undefined")).isEqualTo(true);
        assertThat(browser.run("return document.querySelectorAll('main img, main script, main b').length"))
                .isEqualTo(0L);
        assertThat(browser.text("#parked-rows")).contains("<script>", "A-\\u202E1-", "\\u0007");
        assertThat(browser.text(".listener.paused")).contains("<img src=x", "Show all");
        browser.find(".listener.paused h3 button").click();
        assertThat(browser.text(".listener.paused h3")).contains("n".repeat(10_000));
        for (int width : new int[] {WIDTH, 390}) {
            browser.view(width, HEIGHT, 1);
            assertThat(browser.run("return document.documentElement.scrollWidth"))
                    .isEqualTo((long) width);
        }
        browser.view(WIDTH, HEIGHT, 1);
        assertThat(browser.accessibilityViolations()).isEmpty();

        browser.run("document.cookie = 'XSRF-TOKEN=a%2Fb; path=/'");
        browser.choose("#parked-decide [name=which][value=matching]");
        browser.type("#parked-decide [name=reason]", reversed.replaceAll("[^A-Z0-9-]", "") + " <b>");
        browser.press(Keys.ENTER);
        await().atMost(PATIENCE).until(() -> browser.has("#decide"));
        browser.find("#decide").click();
        await().atMost(PATIENCE).until(() -> browser.text("#parked-answer").contains("2 keys released"));
        assertThat(browser.run("return window.asked.map(([, headers]) => headers['X-XSRF-TOKEN']).filter(Boolean)"))
                .as("the dry run with the token of the cookie, then masked, and the decision")
                .isEqualTo(List.of("a/b", "AAAAYS9i", "AAAAYS9i"));
        assertThat(browser.run("return window.hostile === undefined")).isEqualTo(true);
        browser.run("document.cookie = 'XSRF-TOKEN=; path=/; max-age=0'");

        park("hostile", "refused", "java.net.SocketTimeoutException: Read timed out");
        awaitParked("hostile");
        browser.run("window.refusing = true");
        browser.choose("#parked-decide [name=which][value=matching]");
        browser.find("#parked-decide button").click();
        await().atMost(PATIENCE)
                .until(() -> browser.text("#parked-answer")
                        .contains("Spring Security refuses this (403): your role is not allowed to"));
    }

    @Test
    @Order(18)
    void consoleFitsOnAPhoneInTheDarkAndIsAccessible() throws Exception {
        park("charges", "A-17", "java.net.SocketTimeoutException: Read timed out");
        park("charges", "A-18", "java.net.SocketTimeoutException: Read timed out");
        browser.go(lab.url().resolve("/console"));
        awaitParked("charges");
        await().atMost(PATIENCE).until(() -> browser.has(".listener"));
        browser.run("scrollTo(0, 0)");
        assertThat(browser.accessibilityViolations()).isEmpty();
        browser.screenshot(SCREENSHOTS.resolve("console-light.png"));
        browser.prefer("prefers-color-scheme", "dark");
        assertThat(browser.accessibilityViolations()).isEmpty();
        browser.screenshot(SCREENSHOTS.resolve("console-dark.png"));

        browser.view(390, 844, 2);
        assertThat(browser.run("return document.documentElement.scrollWidth")).isEqualTo(390L);
        assertThat(browser.accessibilityViolations()).isEmpty();
        browser.screenshot(SCREENSHOTS.resolve("console-phone.png"));
        browser.view(WIDTH, HEIGHT, 1);
        browser.prefer("prefers-color-scheme", "light");
    }

    /** After the page, each refresh is one request; a page that is paused sends none. */
    @Test
    @Order(19)
    void consoleIsOneResponseAndEachRefreshOneRequest() {
        browser.go(lab.url().resolve("/console"));
        await().atMost(PATIENCE).until(() -> requests() >= 3);
        browser.find("#pause").click();
        long before = requests();

        assertThat(browser.text("#pause")).isEqualTo("Resume");
        assertThat((List<?>) browser.run(
                        "return performance.getEntriesByType('resource').map(each => new URL(each.name).pathname)"))
                .first()
                .asString()
                .endsWith("/exactlyonce/overview");
        assertThat((List<?>) browser.run("""
                const times = performance.getEntriesByType('resource').map(each => each.startTime);
                return times.slice(1).map((time, i) => time - times[i]).filter(apart => apart < 3000);
                """)).isEmpty();
        assertThat(browser.has("#parked-rows tr"))
                .as("parked keys of the first request")
                .isTrue();
        assertThat((Long) browser.run("return performance.getEntriesByType('navigation')[0].transferSize"))
                .isLessThan(61_000L);
        assertThat((List<?>) browser.run("return performance.getEntriesByType('resource').map(each => each.name)"))
                .allMatch(name -> name.toString().contains("/actuator/exactlyonce"));
        browser.find("#pause").click();
        await().atMost(PATIENCE).until(() -> requests() == before + 1);
    }

    /** The naive workers have the library, and its endpoint as it is by default. */
    @Test
    @Order(20)
    void consoleWithoutAccessHasNoButtonThatDecides() throws Exception {
        browser.go(lab.console(lab.naive()).orElseThrow());
        await().atMost(PATIENCE).until(() -> browser.text("#updated").startsWith("Updated"));

        assertThat(browser.text("#access")).isEqualTo("read only");
        assertThat(browser.has(".act, #decide, input[type=checkbox], [name=reason]"))
                .isFalse();
        assertThat(browser.complaints()).noneMatch(entry -> entry.getMessage().contains("Content Security Policy"));
    }

    private static long requests() {
        return (Long) browser.run("return performance.getEntriesByType('resource').length");
    }

    /** Presses until a key of a scope is shown. */
    private static void awaitParked(String scope) {
        browser.type("#parked-filter [name=scope]", scope);
        await().atMost(PATIENCE).until(() -> {
            browser.run("document.querySelector('#parked-filter button').click()");
            await().until(() -> browser.find("#parked-filter button").isEnabled());
            return browser.has("#parked-rows tr");
        });
    }

    /** Looks until there are dead letters of payouts, or none. */
    private static void awaitDeadLetters(boolean any) {
        browser.run("document.querySelector('#letters-look [name=listener]').value = 'payouts'");
        await().atMost(PATIENCE).until(() -> {
            browser.run("document.querySelector('#letters-look button').click()");
            await().until(() -> browser.find("#letters-look button").isEnabled());
            return browser.has("#letters tbody input:enabled") == any;
        });
    }

    private static DataSource claims() {
        return ((LiveServers) ReflectionTestUtils.getField(lab, "servers"))
                .databases()
                .database(Kind.EXACTLY_ONCE);
    }

    private static void park(String scope, String key, String error) {
        JdbcClient.create(claims()).sql("""
                        INSERT INTO exactly_once_claim (scope, key, status, claim_id, owner, attempt, fencing_token, in_doubt,
                            lease_until, error, first_claimed_at, claimed_at, parked_at, expires_at)
                        VALUES (?, ?, 'PARKED', gen_random_uuid(), '1@test', 1, 1, true, now(), ?, now(), now(), now(), now() + interval '1 day')
                        """).params(scope, key, error).update();
    }

    private static String statusOf(String key) {
        return JdbcClient.create(claims())
                .sql("SELECT status FROM exactly_once_claim WHERE key = ?")
                .param(key)
                .query(String.class)
                .single();
    }

    /** Returns what a side's chart shows, in percent, the oldest first. */
    private static List<Double> points(String side) {
        List<?> shown = (List<?>) browser.run("""
                return Chart.getChart(document.querySelector(arguments[0])).data.datasets[0].data
                    .map(point => point.y).filter(Number.isFinite)
                """, side + " canvas");
        return shown.stream().map(each -> ((Number) each).doubleValue()).toList();
    }

    private static void press(String button, Keys key, String answer) {
        browser.tabTo(button);
        assertFocusIsVisible();
        browser.press(key);
        await().atMost(PATIENCE).until(() -> browser.text("#answer").startsWith(answer));
    }

    private static void assertFocusIsVisible() {
        assertThat(browser.run("const style = getComputedStyle(document.activeElement);"
                        + "return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2"))
                .as("outline of what has the focus")
                .isEqualTo(true);
    }

    private static boolean isPressed(String button) {
        return "true".equals(browser.find(button).getDomAttribute("aria-pressed"));
    }
}
