//! Informers by the name of their resource, for code that learns it at run time.

/// An informer of any kind of this package.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::enum_variant_names, reason = "the names are those of the kinds")]
pub enum GenericInformer {
    /// Informer of `__resource__` in `__ApiVersion__`.
    #[each(kind)]
    __GroupVersion____Plural__(super::__group__::__version__::__module__::__Kind__Informer),
}

impl GenericInformer {
    /// Whether the informer's cache is complete.
    #[must_use]
    #[inline]
    pub fn has_synced(&self) -> bool {
        match self {
            #[each(kind)]
            Self::__GroupVersion____Plural__(it) => it.informer().has_synced(),
        }
    }
}

impl super::factory::SharedInformerFactory {
    /// The informer of a resource.
    ///
    /// # Errors
    /// The resource is not in this package.
    #[inline]
    pub fn for_resource(
        &self,
        resource: &::kubesmith_runtime::kube::core::GroupVersionResource,
    ) -> ::core::result::Result<GenericInformer, ::kubesmith_runtime::informer::UnknownResource> {
        let name = (resource.group.as_str(), resource.version.as_str(), resource.resource.as_str());
        let informer = match name {
            #[each(kind)]
            ("__Group_Name__", "__version_name__", "__resource__") => {
                GenericInformer::__GroupVersion____Plural__(
                    self.__informer_group__().__version_accessor__().__accessor__(),
                )
            }
            _ => {
                return ::core::result::Result::Err(::kubesmith_runtime::informer::UnknownResource::new(
                    resource,
                ));
            }
        };
        ::core::result::Result::Ok(informer)
    }
}
