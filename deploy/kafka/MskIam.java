import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.security.auth.callback.Callback;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallback;

/**
 * Looks at tokens as Amazon MSK with IAM would: a presigned URL whose signature (AWS Signature Version 4) is reckoned here anew, from the secrets that the environment
 * variable KAFKA_IAM_USERS names as "ACCESS_KEY=SECRET ...". The principal is the access key. For tests; written from Amazon's description of the algorithm.
 */
public class MskIam implements AuthenticateCallbackHandler {
    private static final String REGION = "eu-west-1";

    @Override
    public void configure(Map<String, ?> configs, String mechanism, List<AppConfigurationEntry> entries) {}

    @Override
    public void close() {}

    @Override
    public void handle(Callback[] callbacks) {
        for (Callback callback : callbacks) {
            if (callback instanceof OAuthBearerValidatorCallback asked) {
                try {
                    asked.token(checked(asked.tokenValue()));
                } catch (Exception refused) {
                    asked.error("invalid_token: " + refused.getMessage(), null, null);
                }
            }
        }
    }

    private static OAuthBearerToken checked(String token) throws Exception {
        URI url = new URI(new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8));
        require(("kafka." + REGION + ".amazonaws.com").equals(url.getHost()) && "/".equals(url.getPath()), "the host is not MSK's");
        TreeMap<String, String> query = new TreeMap<>();
        for (String pair : url.getRawQuery().split("&")) {
            String[] parts = pair.split("=", 2);
            query.put(URLDecoder.decode(parts[0], StandardCharsets.UTF_8), URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
        }
        String signature = query.remove("X-Amz-Signature");
        query.remove("User-Agent");
        require("kafka-cluster:Connect".equals(query.get("Action")), "another action");
        require("host".equals(query.get("X-Amz-SignedHeaders")), "other headers");
        String[] credential = query.get("X-Amz-Credential").split("/");
        String scope = String.join("/", List.of(credential).subList(1, credential.length));
        String when = query.get("X-Amz-Date");
        require(scope.equals(when.substring(0, 8) + "/" + REGION + "/kafka-cluster/aws4_request"), "another scope");
        DateTimeFormatter form = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
        Instant made = Instant.from(form.parse(when));
        Instant end = made.plusSeconds(Math.min(900, Long.parseLong(query.get("X-Amz-Expires"))));
        require(Instant.now().isBefore(end) && made.isBefore(Instant.now().plusSeconds(60)), "it is out of date");

        StringBuilder canonical = new StringBuilder("GET\n/\n");
        String and = "";
        for (Map.Entry<String, String> one : query.entrySet()) {
            canonical.append(and).append(encoded(one.getKey())).append('=').append(encoded(one.getValue()));
            and = "&";
        }
        canonical.append("\nhost:").append(url.getHost()).append("\n\nhost\n").append(sha256(""));
        String toSign = "AWS4-HMAC-SHA256\n" + when + "\n" + scope + "\n" + sha256(canonical.toString());
        byte[] key = ("AWS4" + secretOf(credential[0])).getBytes(StandardCharsets.UTF_8);
        for (String part : scope.split("/")) {
            key = hmac(key, part);
        }
        require(HexFormat.of().formatHex(hmac(key, toSign)).equals(signature), "the signature is wrong");
        return new OAuthBearerToken() {
            @Override public String value() { return token; }
            @Override public Set<String> scope() { return Set.of(); }
            @Override public long lifetimeMs() { return end.toEpochMilli(); }
            @Override public String principalName() { return credential[0]; }
            @Override public Long startTimeMs() { return made.toEpochMilli(); }
        };
    }

    private static String secretOf(String accessKey) {
        for (String user : System.getenv().getOrDefault("KAFKA_IAM_USERS", "").split(" ")) {
            if (user.startsWith(accessKey + "=")) {
                return user.substring(accessKey.length() + 1);
            }
        }
        throw new IllegalArgumentException("an unknown access key");
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20").replace("*", "%2A").replace("%7E", "~");
    }

    private static String sha256(String text) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static byte[] hmac(byte[] key, String text) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
    }
}
