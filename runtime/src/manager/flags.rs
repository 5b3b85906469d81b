//! The command-line flags of a manager.

use std::path::PathBuf;

use clap::builder::RangedU64ValueParser;
use kube::Client;

use super::{BindAddress, Manager, ManagerBuilder, MetricsTls};
use crate::client::{self, ClientOptions, build_config_from_flags, connect_with_options};
use crate::leaderelection::{InvalidElection, LeaderElector, default_identity};
use crate::metrics::Registry;
#[cfg(feature = "webhook")]
use crate::webhook::CertWatcher;
#[cfg(feature = "cert-rotation")]
use crate::webhook::{CaBundleTarget, CertRotator, CertRotatorBuilder};

/// The flags of a manager, for `#[command(flatten)]` in a program's own flags: those of controller-runtime's and
/// sample-controller's programs, with their defaults. Only metrics differ: without flags, they are on a loopback address. Needs
/// the feature `clap`.
///
/// ```no_run
/// use clap::Parser;
/// use kubesmith_runtime::manager::{ManagerFlags, shutdown_signal};
/// use kubesmith_runtime::metrics::Registry;
///
/// // Manages pods.
/// #[derive(Parser)]
/// struct Flags {
///     #[command(flatten)]
///     manager: ManagerFlags,
///     /// The only namespace that is looked at; all unless given
///     #[arg(long)]
///     namespace: Option<String>,
/// }
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let flags = Flags::parse();
/// let registry = Registry::new();
/// let client = flags.manager.connect(&registry).await?;
/// let manager = flags.manager.builder(client, &registry, "pods.example.com")?.build();
/// println!("{} at a time, of {:?}", flags.manager.workers, flags.namespace);
/// manager.run(shutdown_signal()?).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, clap::Args)]
#[command(about = None, long_about = None)]
pub struct ManagerFlags {
    /// The kubeconfig file; without it $KUBECONFIG, ~/.kube/config or the pod's service account is used
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The address of the API server; overrides the kubeconfig's
    #[arg(long, value_name = "URL")]
    pub master: Option<String>,
    /// The address of /metrics, such as :8443; 0 turns it off
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub metrics_bind_address: BindAddress,
    /// Serve /metrics over TLS. Default: true unless the address is a loopback one and no certificate is given. Use
    /// --metrics-secure=false to use HTTP instead
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub metrics_secure: Option<bool>,
    /// Serve /metrics only to users whom the cluster allows it, by the token of their requests. Default: true with TLS
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub metrics_authorize: Option<bool>,
    /// The folder with tls.crt and tls.key for /metrics; without it the certificate is that of --webhook-cert-secret, or self-signed
    #[cfg(feature = "webhook")]
    #[arg(long, value_name = "FOLDER")]
    pub metrics_cert_path: Option<PathBuf>,
    /// The Service in front of /metrics, whose name the certificate in --webhook-cert-secret has as well
    #[cfg(feature = "cert-rotation")]
    #[arg(long, value_name = "NAME", requires = "webhook_cert_secret")]
    pub metrics_service: Option<String>,
    /// The address of /healthz and /readyz; 0 turns them off
    #[arg(long, value_name = "ADDRESS", default_value = ":8081")]
    pub health_probe_bind_address: BindAddress,
    /// The address of /debug/controllers (queues, caches, failing and slow keys) and of /debug/flags/v (log levels); 0 turns
    /// them off. They show names of objects, so choose an address that only operators reach, such as 127.0.0.1:8082
    #[arg(long, value_name = "ADDRESS", default_value = "0")]
    pub debug_bind_address: BindAddress,
    /// The port of the webhooks; 9443 unless given
    #[cfg(feature = "webhook")]
    #[arg(long, value_name = "PORT")]
    pub webhook_port: Option<u16>,
    /// The folder with tls.crt and tls.key for webhooks; k8s-webhook-server/serving-certs in the temporary folder unless given
    #[cfg(feature = "webhook")]
    #[arg(long, value_name = "FOLDER")]
    pub webhook_cert_dir: Option<PathBuf>,
    /// The Secret in the program's namespace that holds the webhooks' certificate, which the program makes and renews by itself
    #[cfg(feature = "cert-rotation")]
    #[arg(long, value_name = "NAME", requires = "webhook_service", conflicts_with = "webhook_cert_dir")]
    pub webhook_cert_secret: Option<String>,
    /// The Service in front of the webhooks, whose name the certificate has
    #[cfg(feature = "cert-rotation")]
    #[arg(long, value_name = "NAME", requires = "webhook_cert_secret")]
    pub webhook_service: Option<String>,
    /// Where API servers find the authority of that certificate, such as validatingwebhookconfigurations/NAME; more than once
    #[cfg(feature = "cert-rotation")]
    #[arg(long, value_name = "RESOURCE/NAME", requires = "webhook_cert_secret")]
    pub webhook_inject_ca: Vec<CaBundleTarget>,
    /// Work only while this replica holds the lease
    #[arg(long)]
    pub leader_elect: bool,
    /// The namespace of the lease; the kubeconfig's or the pod's own unless given
    #[arg(long, value_name = "NAME")]
    pub leader_election_namespace: Option<String>,
    /// How many objects each controller reconciles at once
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    pub workers: usize,
}

impl ManagerFlags {
    /// Makes a client of the cluster that `--kubeconfig` and `--master` select, like [`build_config_from_flags`]. It
    /// counts its requests in `registry` ([`ClientOptions::metrics`]), the one of the [manager](Self::builder).
    ///
    /// # Errors
    ///
    /// The file cannot be read or is incomplete, no configuration is found, or its TLS settings or credentials
    /// cannot be used.
    pub async fn connect(&self, registry: &Registry) -> client::Result<Client> {
        let config = build_config_from_flags(self.master.as_deref(), self.kubeconfig.as_deref()).await?;
        connect_with_options(config, ClientOptions::new().metrics(registry)).await
    }

    /// Starts the settings of a manager with this client: its endpoints, its metrics in `registry`, and with
    /// `--leader-elect` an elector for the lease `lease`.
    ///
    /// # Errors
    ///
    /// `lease` or the namespace of `--leader-election-namespace` is empty.
    pub fn builder(
        &self,
        client: Client,
        registry: &Registry,
        lease: &str,
    ) -> Result<ManagerBuilder, InvalidElection> {
        let builder = Manager::builder(client.clone())
            .metrics(registry)
            .metrics_address(self.metrics_bind_address.clone())
            .health_address(self.health_probe_bind_address.clone())
            .debug_address(self.debug_bind_address.clone());
        let builder = self.metrics(builder);
        #[cfg(feature = "webhook")]
        let builder = match self.webhook_port {
            Some(port) => builder.webhook_port(port),
            None => builder,
        };
        #[cfg(feature = "webhook")]
        let builder = match &self.webhook_cert_dir {
            Some(folder) => builder.webhook_cert_dir(folder),
            None => builder,
        };
        #[cfg(feature = "cert-rotation")]
        let builder = self.rotation(builder, &client, registry);
        if !self.leader_elect {
            return Ok(builder);
        }
        let own = || client.default_namespace().to_owned();
        let namespace = self.leader_election_namespace.clone().unwrap_or_else(own);
        let elector = LeaderElector::builder(client, namespace, lease, default_identity());
        Ok(builder.leader_election(elector.metrics(registry).build()?))
    }

    fn metrics(&self, mut builder: ManagerBuilder) -> ManagerBuilder {
        let given = self.metrics_certificate();
        let is_usual = given.is_some() || !self.metrics_bind_address.is_local();
        let is_secure = self.metrics_secure.unwrap_or(is_usual);
        builder.manager.metrics_tls = match (is_secure, given) {
            (true, given) => given.unwrap_or(MetricsTls::Own),
            (false, None) => MetricsTls::Off,
            (false, Some(_)) => MetricsTls::Contradicted,
        };
        builder.manager.metrics_authorization = self.metrics_authorize.unwrap_or(is_secure);
        builder
    }

    /// Returns the certificate of `--metrics-cert-path`.
    #[cfg(feature = "webhook")]
    fn metrics_certificate(&self) -> Option<MetricsTls> {
        let folder = self.metrics_cert_path.as_ref()?;
        let certificate = CertWatcher::builder(folder.join("tls.crt"), folder.join("tls.key"));
        Some(MetricsTls::Given(Box::new(certificate)))
    }

    /// Returns no certificate: only the feature `webhook` reads certificates.
    #[cfg(not(feature = "webhook"))]
    fn metrics_certificate(&self) -> Option<MetricsTls> {
        None
    }

    #[cfg(feature = "cert-rotation")]
    fn rotation(&self, builder: ManagerBuilder, client: &Client, registry: &Registry) -> ManagerBuilder {
        let (Some(secret), Some(service)) = (&self.webhook_cert_secret, &self.webhook_service) else {
            return builder;
        };
        let namespace = client.default_namespace();
        let mut rotator = CertRotator::builder(client.clone(), namespace, secret).service(service);
        if let Some(metrics) = &self.metrics_service {
            let host = format!("{metrics}.{namespace}.svc");
            rotator = rotator.dns_name(format!("{host}.cluster.local")).dns_name(host);
        }
        let targets = self.webhook_inject_ca.iter().cloned();
        let rotator = targets.fold(rotator, CertRotatorBuilder::inject_into);
        builder.webhook_cert_rotator(rotator.metrics(registry).build())
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    /// Manages pods.
    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        manager: ManagerFlags,
    }

    fn parse(flags: &[&str]) -> Result<ManagerFlags, String> {
        let program = Program::try_parse_from([&["program"], flags].concat());
        program.map(|program| program.manager).map_err(|error| error.to_string())
    }

    fn client() -> Client {
        let service = tower::service_fn(|_: http::Request<kube::client::Body>| async {
            Err::<http::Response<kube::client::Body>, _>(std::io::Error::other("nobody is there"))
        });
        Client::new(service, "own")
    }

    #[test]
    fn flag_defaults_equal_those_of_controller_runtime_but_metrics_are_local() {
        let flags = parse(&[]).unwrap();
        let addresses =
            [&flags.metrics_bind_address, &flags.health_probe_bind_address, &flags.debug_bind_address];
        // Metrics are plain by default in controller-runtime, so they are only local here.
        assert_eq!(addresses.map(ToString::to_string), ["127.0.0.1:8080", ":8081", "0"]);
        assert!(!flags.leader_elect && flags.leader_election_namespace.is_none());
        assert!(flags.kubeconfig.is_none() && flags.master.is_none());
        assert_eq!(flags.workers, 2);
    }

    #[test]
    fn invalid_values_are_refused_by_their_flag() {
        for (flag, value) in [
            ("--workers", "0"),
            ("--workers", "-1"),
            ("--workers", "many"),
            ("--metrics-bind-address", "8080"),
            ("--health-probe-bind-address", "nowhere"),
            ("--debug-bind-address", "8082"),
        ] {
            let error = parse(&[&format!("{flag}={value}")]).unwrap_err();
            assert!(error.contains(flag) && error.contains(value), "{error}");
        }
        assert_eq!(parse(&["--workers=1"]).unwrap().workers, 1);
    }

    #[test]
    fn help_text_is_that_of_the_program() {
        let help = Program::command().render_help().to_string();
        assert!(help.starts_with("Manages pods\n"), "{help}");
    }

    #[tokio::test]
    async fn flags_become_settings() {
        let build = |flags: &[&str], lease| {
            let flags = parse(flags).unwrap();
            flags.builder(client(), &Registry::new(), lease).map(|builder| builder.build())
        };
        let alone = build(&["--metrics-bind-address=0", "--health-probe-bind-address=:1"], "a").unwrap();
        assert!(alone.elector.is_none() && !alone.metrics_address.is_on());
        assert_eq!(alone.health_address.to_string(), ":1");
        let debug = build(&["--debug-bind-address=127.0.0.1:8082"], "a").unwrap().debug_address;
        assert_eq!(debug.to_string(), "127.0.0.1:8082");
        let elector =
            |flags| build(flags, "a").unwrap().elector.map(|elector| format!("{elector:?}")).unwrap();
        let own = elector(&["--leader-elect"]);
        assert!(own.contains("\"own\"") && own.contains("\"a\""), "{own}");
        let other = elector(&["--leader-elect", "--leader-election-namespace=other"]);
        assert!(other.contains("\"other\""), "{other}");
        let nowhere = ["--leader-elect", "--leader-election-namespace="];
        assert!(matches!(build(&nowhere, "a"), Err(InvalidElection::Lease)));
    }

    #[cfg(feature = "webhook")]
    #[tokio::test]
    async fn certificate_flags_choose_folders() {
        let run = async |flags: &[&str]| {
            let flags = parse(&[&["--health-probe-bind-address=0"], flags].concat()).unwrap();
            let mut manager = flags.builder(client(), &Registry::new(), "a").unwrap().build();
            manager.add_webhooks(crate::webhook::Server::builder().port(0).build().unwrap());
            manager.run(std::future::pending()).await.unwrap_err().to_string()
        };
        let certificate = "--metrics-cert-path=/nowhere/metrics";
        // Metrics that are off need no certificate.
        let webhook =
            run(&["--metrics-bind-address=0", certificate, "--webhook-cert-dir=/nowhere/webhook"]).await;
        assert!(webhook.contains("/nowhere/webhook/tls.crt"), "{webhook}");
        let metrics = run(&["--metrics-bind-address=127.0.0.1:0", certificate]).await;
        assert!(
            metrics.contains("metrics over TLS") && metrics.contains("/nowhere/metrics/tls"),
            "{metrics}"
        );
    }

    #[cfg(feature = "webhook")]
    #[tokio::test]
    async fn webhook_port_is_that_of_servers_without_one() {
        let folder = tempfile::TempDir::new().unwrap();
        let pair = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        std::fs::write(folder.path().join("tls.crt"), pair.cert.pem()).unwrap();
        std::fs::write(folder.path().join("tls.key"), pair.signing_key.serialize_pem()).unwrap();
        let taken = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = taken.local_addr().unwrap();
        let run = async |server: crate::webhook::ServerBuilder| {
            let port = format!("--webhook-port={}", address.port());
            let off = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
            let flags = parse(&[&off[..], &[port.as_str()]].concat()).unwrap();
            let mut manager = flags.builder(client(), &Registry::new(), "a").unwrap().build();
            let server = server.address(address.ip()).cert_dir(folder.path());
            manager.add_webhooks(server.build().unwrap());
            manager.run(std::future::ready(())).await.map_err(|error| error.to_string())
        };
        let error = run(crate::webhook::Server::builder()).await.unwrap_err();
        assert!(error.contains(&address.to_string()), "{error}");
        run(crate::webhook::Server::builder().port(0)).await.unwrap();
    }

    async fn refusal(flags: &[&str]) -> String {
        let flags = parse(&[&["--health-probe-bind-address=0"], flags].concat()).unwrap();
        let manager = flags.builder(client(), &Registry::new(), "a").unwrap().build();
        manager.run(std::future::pending()).await.unwrap_err().to_string()
    }

    #[tokio::test]
    async fn tokens_over_plain_http_are_refused_unless_the_address_is_local() {
        let plain = ["--metrics-secure=false", "--metrics-authorize"];
        let error = refusal(&[&["--metrics-bind-address=:0"], &plain[..]].concat()).await;
        assert!(error.contains(":0") && error.contains("--metrics-authorize=false"), "{error}");
        for address in ["127.0.0.1:0", "0"] {
            let address = format!("--metrics-bind-address={address}");
            let flags = [&[address.as_str(), "--health-probe-bind-address=0"], &plain[..]].concat();
            let manager = parse(&flags).unwrap().builder(client(), &Registry::new(), "a").unwrap().build();
            manager.run(std::future::ready(())).await.unwrap();
        }
    }

    #[cfg(feature = "webhook")]
    #[tokio::test]
    async fn certificate_of_plain_metrics_is_refused() {
        let error = refusal(&["--metrics-cert-path=/certs", "--metrics-secure=false"]).await;
        assert!(error.contains("--metrics-cert-path") && error.contains("--metrics-secure=false"), "{error}");
    }

    #[cfg(not(feature = "webhook"))]
    #[tokio::test]
    async fn metrics_without_tls_are_local_or_asked_for() {
        for flags in [&["--metrics-bind-address=:0"][..], &["--metrics-secure"]] {
            let error = refusal(flags).await;
            assert!(error.contains("`cert-rotation`") && error.contains("--metrics-secure=false"), "{error}");
        }
        let plain = ["--metrics-bind-address=:0", "--health-probe-bind-address=0", "--metrics-secure=false"];
        let manager = parse(&plain).unwrap().builder(client(), &Registry::new(), "a").unwrap().build();
        manager.run(std::future::ready(())).await.unwrap();
    }

    #[cfg(feature = "webhook")]
    #[tokio::test]
    async fn metrics_are_plain_only_on_loopback_or_when_asked_for() {
        let settings = |flags: &[&str]| {
            let flags = parse(flags).unwrap();
            let manager = flags.builder(client(), &Registry::new(), "a").unwrap().build();
            let certificate = match manager.metrics_tls {
                MetricsTls::Off => "none",
                MetricsTls::Contradicted => "contradicted",
                MetricsTls::Given(_) => "given",
                MetricsTls::Own => "own",
            };
            (certificate, manager.metrics_authorization)
        };
        for (flags, expected) in [
            (&[][..], ("none", false)),
            (&["--metrics-bind-address=localhost:1"], ("none", false)),
            (&["--metrics-bind-address=:8443"], ("own", true)),
            (&["--metrics-bind-address=:8080", "--metrics-secure=false"], ("none", false)),
            (&["--metrics-secure"], ("own", true)),
            (&["--metrics-secure=true", "--metrics-authorize=false"], ("own", false)),
            (&["--metrics-authorize"], ("none", true)),
            (&["--metrics-cert-path=/certs"], ("given", true)),
            (&["--metrics-cert-path=/certs", "--metrics-secure=false"], ("contradicted", false)),
            (
                &["--metrics-bind-address=:8443", "--metrics-secure", "--metrics-cert-path=/certs"],
                ("given", true),
            ),
        ] {
            assert_eq!(settings(flags), expected, "{flags:?}");
        }
        let error = parse(&["--metrics-secure=often"]).unwrap_err();
        assert!(error.contains("--metrics-secure"), "{error}");
    }

    #[cfg(feature = "cert-rotation")]
    #[tokio::test]
    async fn certificate_is_for_the_service_of_the_metrics_too() {
        let error = parse(&["--metrics-service=metrics"]).unwrap_err();
        assert!(error.contains("--webhook-cert-secret"), "{error}");
        let flags = ["--webhook-cert-secret=certs", "--webhook-service=hooks", "--metrics-service=metrics"];
        let flags = parse(&flags).unwrap();
        let manager = flags.builder(client(), &Registry::new(), "a").unwrap().build();
        let rotator = format!("{:?}", manager.webhooks.rotator().unwrap());
        for name in ["hooks.own.svc", "metrics.own.svc", "metrics.own.svc.cluster.local"] {
            assert!(rotator.contains(&format!("{name:?}")), "{rotator}");
        }
    }

    #[cfg(feature = "cert-rotation")]
    #[tokio::test]
    async fn rotation_flags_make_the_manager_keep_its_certificate() {
        let error = parse(&["--webhook-cert-secret=certs"]).unwrap_err();
        assert!(error.contains("--webhook-service"), "{error}");
        let service = ["--webhook-cert-secret=certs", "--webhook-service=hooks"];
        let error = parse(&[&service[..], &["--webhook-inject-ca=pods/a"]].concat()).unwrap_err();
        assert!(error.contains("customresourcedefinitions/NAME"), "{error}");
        let off = ["--metrics-bind-address=0", "--health-probe-bind-address=0"];
        let target = ["--webhook-inject-ca=validatingwebhookconfigurations/a"];
        let flags = parse(&[&off[..], &service, &target].concat()).unwrap();
        let mut manager = flags.builder(client(), &Registry::new(), "a").unwrap().build();
        manager.add_webhooks(crate::webhook::Server::builder().port(0).build().unwrap());
        let error = manager.run(std::future::pending()).await.unwrap_err().to_string();
        assert!(error.contains("secrets") && error.contains("certs"), "{error}");
    }

    #[tokio::test]
    async fn missing_kubeconfig_error_names_the_flag() {
        let flags = parse(&["--kubeconfig=/nowhere/config"]).unwrap();
        let error = flags.connect(&Registry::new()).await.map(drop).unwrap_err().to_string();
        assert!(error.contains("--kubeconfig /nowhere/config"), "{error}");
    }
}
